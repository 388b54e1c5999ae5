/**
 * Rows as CSV (RFC 4180): a header of the keys of the first row; lists and objects as JSON. Text that a spreadsheet
 * would take for a formula gets an apostrophe in front.
 */
export function toCsv(rows: readonly Readonly<Record<string, unknown>>[]): string {
  const keys = Object.keys(rows[0] ?? {});
  const lines = [keys, ...rows.map((row) => keys.map((key) => cell(row[key])))];
  return lines.map((line) => `${line.map(quoted).join(',')}\r\n`).join('');
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function quoted(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

import { isAscii, isUtf8 } from 'node:buffer';
import { JsonDepthError, JsonSyntaxError, readFirstJsonValue } from './pythonJson.ts';

/** A report file as JSON, with what was odd about it; or why it is none. Both are predicates: "is cut off". */
export type DecodedReport =
  | { readonly json: unknown; readonly notes: readonly string[] }
  | { readonly error: string };

/**
 * Reads JSON as report writers leave it: with a byte order mark (UTF-8, UTF-16), with text before or after the
 * document, with Python's NaN. A file that ends inside the document is an error: half a report is no report.
 */
export function decodeReport(data: Uint8Array): DecodedReport {
  const notes: string[] = [];
  let text: string;
  try {
    text = decodeText(data, notes);
  } catch {
    return { error: 'is too large to be read' };
  }
  if (text.trim() === '') return { error: 'is empty' };
  try {
    return { json: JSON.parse(text) as unknown, notes };
  } catch {
    return decodeLoosely(text, notes);
  }
}

/** Decodes bytes; a byte order mark is dropped, bytes that are no UTF-8 become U+FFFD and are noted. */
function decodeText(data: Uint8Array, notes: string[]): string {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return bytes.toString('utf16le', 2);
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  if (isAscii(bytes)) return bytes.toString('latin1');
  if (!isUtf8(bytes)) notes.push('holds bytes that are not UTF-8');
  const text = bytes.toString('utf8');
  return text.startsWith('\ufeff') ? text.slice(1) : text;
}

function decodeLoosely(text: string, notes: string[]): DecodedReport {
  const start = text.search(/[{[]/);
  if (start === -1) return { error: 'is not JSON' };
  const tail = start === 0 ? text : text.slice(start);
  try {
    const { value, end } = readFirstJsonValue(tail);
    if (text.slice(0, start).trim() !== '') notes.push('has text before the report, which was ignored');
    if (/[^\s\0]/.test(tail.slice(end))) notes.push('has text after the report, which was ignored');
    return { json: value, notes };
  } catch (error) {
    if (error instanceof JsonDepthError) return { error: 'is nested too deeply to be read' };
    if (!(error instanceof JsonSyntaxError)) throw error;
    const cutOff = error.offset >= tail.trimEnd().length;
    return { error: cutOff ? 'is cut off or still being written' : `is not JSON (${error.message})` };
  }
}

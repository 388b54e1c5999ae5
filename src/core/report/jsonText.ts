/** A JSON value as text for people; a value nested too deeply for the platform's writer is only named. */
export function jsonText(value: unknown, indent?: number): string {
  try {
    return JSON.stringify(value, undefined, indent) ?? String(value);
  } catch {
    return '(nested too deeply to be shown)';
  }
}

/* biome-ignore-all lint/suspicious/noControlCharactersInRegex: terminal escapes are made of control characters. */

/**
 * Terminal sequences: CSI (colours, cursor moves), OSC (links, titles; up to BEL or ST, at most one line), DCS, SOS, PM
 * and APC strings, and the two-character escapes. A sequence that is cut off ends with its line.
 */
const escapeSequence =
  /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?|(?:\x1b\]|\x9d)[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?|(?:\x1b[PX^_]|[\x90\x98\x9e\x9f])[^\x1b\x9c\n]*(?:\x1b\\|\x9c)?|\x1b[ -/]*[0-~]?/g;
/** C0 without tab and line feed, DEL, C1. */
const controlCharacter = /[\0-\x08\x0b-\x1f\x7f-\x9f]/g;

/** Plain text of terminal output for use where escapes are not rendered; line ends become LF, links keep their text. */
export function stripAnsi(text: string): string {
  return text.replace(escapeSequence, '').replace(/\r\n?/g, '\n').replace(controlCharacter, '');
}

/** Characters that reorder or hide text: bidi marks, zero-width space, BOM, tags; not the joiners of emoji and scripts. */
const invisibleCharacter =
  /[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/**
 * One visible line for a label: escapes, control characters and invisible marks removed, space of any kind collapsed,
 * at most `max` UTF-16 units (the last is `…` when something was cut). Never empty: nothing visible gives `(no name)`.
 */
export function oneLine(text: string, max: number): string {
  const bounded = text.length > max * 8 + 256 ? text.slice(0, max * 8 + 256) : text;
  const line = stripAnsi(bounded)
    .replace(invisibleCharacter, '')
    .replace(/\p{Surrogate}/gu, '\ufffd')
    .replace(/\s+/gu, ' ')
    .trim();
  if (/^[\s\u200c\u200d]*$/u.test(line)) return '(no name)';
  if (line.length <= max && bounded === text) return line;
  if (line.length < max) return `${line}…`;
  let end = Math.max(0, max - 1);
  const last = line.charCodeAt(end - 1);
  if (last >= 0xd800 && last <= 0xdbff) end--;
  return `${line.slice(0, end)}…`;
}

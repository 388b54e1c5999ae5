import * as vscode from 'vscode';

/** Files of an attempt's workspace: `e2e-swe:/<attempt>/<path below the workdir>`. */
export const workspaceScheme = 'e2e-swe';

/** A file of a workspace: the attempt, and the path below the workdir as bytes (`''` is the workdir itself). */
export interface AttemptPath {
  readonly attemptId: string;
  /** Binary string, without a slash at its start or end. */
  readonly path: string;
}

/**
 * A file name is bytes, an address is text. Bytes that are no UTF-8 stand in an address as one private-use character
 * each (U+EF80 to U+EFFF, as MirBSD's OPTU-8 has them); a name that really holds such a character has its bytes
 * written the same way, so that every name has one address and every address one name.
 */
const escapeBase = 0xef00;
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const isEscape = (code: number): boolean => code >= escapeBase + 0x80 && code <= escapeBase + 0xff;

/** The text that stands for a path's bytes in an address. */
export function bytesToText(binary: string): string {
  if (!/[\x80-\xff]/.test(binary)) return binary;
  const bytes = Buffer.from(binary, 'latin1');
  let text = '';
  for (let at = 0; at < bytes.length; ) {
    const length = characterLength(bytes, at);
    if (length > 0) text += decoder.decode(bytes.subarray(at, at + length));
    else text += String.fromCharCode(escapeBase + (bytes[at] ?? 0));
    at += Math.max(1, length);
  }
  return text;
}

/** The bytes that an address's text stands for. */
export function textToBytes(text: string): string {
  let binary = '';
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    binary += isEscape(code)
      ? String.fromCharCode(code - escapeBase)
      : Buffer.from(character, 'utf8').toString('latin1');
  }
  return binary;
}

/** Bytes of the UTF-8 character at this place; 0 where there is none, or one that stands for a byte. */
function characterLength(bytes: Buffer, at: number): number {
  const first = bytes[at] ?? 0;
  const length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  try {
    const text = decoder.decode(bytes.subarray(at, at + length));
    return isEscape(text.codePointAt(0) ?? 0) || at + length > bytes.length ? 0 : length;
  } catch {
    return 0;
  }
}

/** The address of a file of an attempt; without a path, of the folder: no slash at its end, VS Code's explorer would take it for another. */
export function attemptUri(attemptId: string, path = ''): vscode.Uri {
  const below = path === '' ? '' : `/${bytesToText(path)}`;
  return vscode.Uri.from({ scheme: workspaceScheme, path: `/${attemptId}${below}` });
}

/** Undefined for an address that no attempt can have. */
export function parseAttemptUri(uri: Pick<vscode.Uri, 'scheme' | 'path'>): AttemptPath | undefined {
  if (uri.scheme !== workspaceScheme) return undefined;
  const [attemptId = '', ...parts] = uri.path.split('/').filter(Boolean);
  if (attemptId === '' || parts.some((part) => part === '.' || part === '..' || part.includes('\0'))) {
    return undefined;
  }
  return { attemptId, path: textToBytes(parts.join('/')) };
}

/** The attempt whose workspace is open in this window. */
export function windowAttemptId(): string | undefined {
  const folder = (vscode.workspace.workspaceFolders ?? []).find(({ uri }) => uri.scheme === workspaceScheme);
  return folder && parseAttemptUri(folder.uri)?.attemptId;
}

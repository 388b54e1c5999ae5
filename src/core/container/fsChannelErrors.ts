import { fromBinary } from './tarHeader.ts';

/** Why a file operation in a container failed. */
export type FsFailure =
  | 'not-found'
  | 'not-a-directory'
  | 'is-a-directory'
  | 'exists'
  | 'not-empty'
  | 'no-permission'
  | 'no-space'
  | 'too-large'
  /** The channel or the container is gone, or did not answer; what a write did is unknown. */
  | 'unavailable'
  | 'other';

export class FsError extends Error {
  override readonly name = 'FsError';
  readonly failure: FsFailure;
  /** Binary string. */
  readonly path: string;
  /** What the tool in the container said. */
  readonly detail: string;

  constructor(failure: FsFailure, path: string, detail: string, options?: { readonly cause?: unknown }) {
    super(path ? `${fromBinary(path)}: ${detail}` : detail, options);
    this.failure = failure;
    this.path = path;
    this.detail = detail;
  }
}

/** strerror(3) in the C locale, and what dash and busybox ash say instead when a redirection fails. */
const texts: readonly (readonly [FsFailure, RegExp])[] = [
  ['not-found', /No such file or directory|Directory nonexistent|nonexistent directory/],
  ['not-a-directory', /Not a directory/],
  ['is-a-directory', /Is a directory/],
  ['exists', /File exists/],
  ['not-empty', /Directory not empty/],
  ['no-permission', /Permission denied|Operation not permitted|Read-only file system/],
  ['no-space', /No space left on device|Disk quota exceeded|File too large/],
];

/**
 * The error that a failed command's output means. Names may hold any text, so only the ends of lines count, and the last
 * line first.
 */
export function fsErrorOf(output: Buffer, path: string): FsError {
  const lines = output
    .toString('utf8')
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
  for (const line of lines.toReversed()) {
    const end = line.slice(line.lastIndexOf(': ') + 1).trim();
    for (const [failure, text] of texts)
      if (text.exec(end)?.[0] === end) return new FsError(failure, path, end);
  }
  return new FsError('other', path, lines[0]?.slice(0, 500) ?? 'The command failed without a word.');
}

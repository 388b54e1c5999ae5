import { throwIfCancelled, UserError } from '#core/base/errors.ts';
import { escapeRegExp } from './globs.ts';
import { type ListedFile, listFiles, type SearchPlace } from './listFiles.ts';

export interface SearchQuery {
  readonly text: string;
  /** An extended regular expression (`grep -E`), else plain text. */
  readonly isRegExp: boolean;
  readonly isCaseSensitive: boolean;
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly useIgnoreFiles: boolean;
}

export interface SearchMatch {
  /** 1-based. */
  readonly line: number;
  /** The line, cut where it is very long. */
  readonly text: string;
  /** Where the match stands in it, as far as that is known. */
  readonly ranges: readonly (readonly [start: number, end: number])[];
}

export interface FileMatches {
  readonly file: ListedFile;
  readonly matches: readonly SearchMatch[];
}

export interface SearchOutcome {
  readonly files: readonly FileMatches[];
  readonly matchCount: number;
  /** There are more matches than are shown. */
  readonly isCapped: boolean;
  /** Files that were not looked into, by the reason, in the words of a person. */
  readonly skipped: readonly SkippedFiles[];
}

export interface SkippedFiles {
  /** "larger than 10 MB" */
  readonly reason: string;
  readonly files: readonly ListedFile[];
}

const maxMatches = 2_000;
const maxFileBytes = 10 << 20;
/** Well below the 128 KiB that one argument list surely takes. */
const maxBatchChars = 60_000;
const maxBatchFiles = 500;
const maxLineBytes = 1_000;

/**
 * `$1` folder, `$2` flags, `$3` pattern, `$4` matches, then files. Portable to busybox, which has no `-Z`: the files
 * are known, so a line's file is found in the list. `head` ends grep early.
 */
const grepScript = `cd "$1" || exit 1
flags=$2; pattern=$3; most=$4; shift 4
{ grep -nsH $flags -e "$pattern" -- "$@"; echo "code $?" >&2; } | cut -b1-${maxLineBytes} | head -n "$most"`;

/** Searches the workspace inside its container; the files never leave it. Calls back after each batch. */
export async function searchFiles(
  place: SearchPlace,
  query: SearchQuery,
  signal: AbortSignal,
  onProgress: (sofar: SearchOutcome) => void,
): Promise<SearchOutcome> {
  const files = await listFiles(place, { ...query, maxBytes: maxFileBytes }, signal);
  const found = new Map<string, FileMatches & { readonly matches: SearchMatch[] }>();
  let matchCount = 0;
  const skipped = skippedOf(files);
  const outcome = (): SearchOutcome => ({
    skipped,
    files: [...found.values()],
    matchCount,
    isCapped: matchCount >= maxMatches,
  });
  const highlight = highlighter(query);
  for (const batch of batchesOf(files.filter((file) => !file.isTooLarge && isPlain(file.path)))) {
    throwIfCancelled(signal);
    const lines = await grep(place, query, batch, maxMatches - matchCount, signal);
    for (const { file, line, text } of lines) {
      const entry = found.get(file.path) ?? { file, matches: [] };
      found.set(file.path, entry);
      entry.matches.push({ line, text, ranges: highlight(text) });
      matchCount++;
    }
    onProgress(outcome());
    if (matchCount >= maxMatches) break;
  }
  return outcome();
}

function skippedOf(files: readonly ListedFile[]): SkippedFiles[] {
  const odd = files.filter((file) => !file.isTooLarge && !isPlain(file.path));
  return [
    { reason: `larger than ${maxFileBytes >> 20} MB`, files: files.filter((file) => file.isTooLarge) },
    { reason: 'name with a line break or not UTF-8', files: odd },
  ].filter((group) => group.files.length > 0);
}

/** A command's arguments are text for the engine: names that are no UTF-8, or hold a line's end, cannot be passed. */
function isPlain(path: string): boolean {
  return (
    !path.includes('\n') &&
    Buffer.from(Buffer.from(path, 'latin1').toString('utf8')).toString('latin1') === path
  );
}

export function* batchesOf(files: readonly ListedFile[]): Generator<readonly ListedFile[]> {
  let batch: ListedFile[] = [];
  let size = 0;
  for (const file of files) {
    if (batch.length >= maxBatchFiles || (size + file.path.length > maxBatchChars && batch.length > 0)) {
      yield batch;
      batch = [];
      size = 0;
    }
    batch.push(file);
    size += file.path.length + 3;
  }
  if (batch.length > 0) yield batch;
}

interface FoundLine {
  readonly file: ListedFile;
  readonly line: number;
  readonly text: string;
}

async function grep(
  place: SearchPlace,
  query: SearchQuery,
  batch: readonly ListedFile[],
  most: number,
  signal: AbortSignal,
): Promise<FoundLine[]> {
  const flags = [query.isRegExp ? '-E' : '-F', query.isCaseSensitive ? '' : '-i'].filter(Boolean).join(' ');
  const names = batch.map(({ path }) => `./${Buffer.from(path, 'latin1').toString('utf8')}`);
  const { stdout, stderr } = await place.container.exec(
    {
      command: ['sh', '-c', grepScript, 'sh', place.workdir, flags, query.text, `${most}`, ...names],
      workdir: '/',
      env: { LC_ALL: 'C.UTF-8' },
      keepBytes: maxMatches * (maxLineBytes + 10),
      ...(place.user === undefined ? {} : { user: place.user }),
    },
    signal,
  );
  const said = stderr.toString('utf8');
  const complaint = said.replace(/^code \d+$/m, '').trim();
  if (/^code (?:[2-9]|\d\d+)$/m.test(said) && stdout.length === 0 && complaint !== '') {
    throw new UserError(`The search failed: ${complaint.split('\n')[0]}`, {
      nextStep: query.isRegExp ? 'Check the regular expression.' : '',
    });
  }
  return parseGrep(stdout, batch).slice(0, most);
}

/** `./path:line:text` each; a path may hold colons itself, so the longest one that was searched counts. */
export function parseGrep(output: Buffer, batch: readonly ListedFile[]): FoundLine[] {
  const files = new Map(batch.map((file) => [file.path, file]));
  return output
    .toString('latin1')
    .split('\n')
    .flatMap((line) => {
      // A NUL: a binary file, which busybox prints.
      if (!line.startsWith('./') || line.includes('\0')) return [];
      const ends = [...line.matchAll(/:(\d+)(?=:)/g)];
      const end = ends.findLast(({ index }) => files.has(line.slice(2, index)));
      const file = end && files.get(line.slice(2, end.index));
      if (!file) return [];
      const bytes = line.slice(end.index + end[0].length + 1).replace(/\r$/, '');
      return [{ file, line: Number(end[1]), text: Buffer.from(bytes, 'latin1').toString('utf8') }];
    });
}

const maxRanges = 20;

/** Finds the match in a line again. grep's own expressions may differ from JavaScript's: then nothing is marked. */
function highlighter(query: SearchQuery): (text: string) => (readonly [number, number])[] {
  let pattern: RegExp;
  try {
    pattern = new RegExp(
      query.isRegExp ? query.text : escapeRegExp(query.text),
      query.isCaseSensitive ? 'g' : 'gi',
    );
  } catch {
    return () => [];
  }
  return (text) => {
    const ranges: (readonly [number, number])[] = [];
    for (const match of text.matchAll(pattern)) {
      if (match[0] !== '') ranges.push([match.index, match.index + match[0].length]);
      if (ranges.length >= maxRanges) break;
    }
    return ranges;
  };
}

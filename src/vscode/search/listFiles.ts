import * as vscode from 'vscode';
import { UserError } from '#core/base/errors.ts';
import type { ContainerHandle } from '#core/container/engine.ts';
import type { FsChannel } from '#core/container/fsChannel.ts';
import { bytesToText } from '#vscode/workspace/attemptUri.ts';
import { editorFolder } from '#vscode/workspace/editorFolder.ts';
import { globToRegExp } from './globs.ts';
import { createIgnore, parseIgnoreFile } from './ignoreFile.ts';

/** Where a search looks: what it needs of an open workspace. */
export interface SearchPlace {
  readonly container: Pick<ContainerHandle, 'exec'>;
  readonly files: Pick<FsChannel, 'read'>;
  readonly workdir: string;
  /** The same for all that we do in the container. */
  readonly user: string | undefined;
}

export interface ListOptions {
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
  /** Ignore files and the settings "search.exclude" and "files.exclude" hide files. */
  readonly useIgnoreFiles: boolean;
  /** Larger files are marked; nobody reads them in a list of results. */
  readonly maxBytes?: number;
}

/** A file below the workdir. */
export interface ListedFile {
  /** Binary string, relative to the workdir. */
  readonly path: string;
  /** The path as addresses and labels have it. */
  readonly text: string;
  /** Larger than `maxBytes`. */
  readonly isTooLarge?: true;
}

const maxListBytes = 32 << 20;
const maxIgnoreFiles = 50;
const maxIgnoreBytes = 1 << 20;
const blockBytes = 512;

/** Between the files that are small enough and the others; no path of find's is like it. */
const separator = '//';

/**
 * `$1` folder, `$2` how many blocks are too large, 0 for no limit; then tests for what is not looked into. Prints
 * `path NUL` each. `.vscode` at the top is not there for the editor (`editorFolder.ts`).
 */
const findScript = `cd "$1" || exit 1
limit=$2; shift 2
set -- . -xdev -name .git -prune -o -path ./${editorFolder} -prune -o -name '.e2eswe-tmp.*' -prune -o "$@" -type f
[ "$limit" = 0 ] && exec find "$@" -print0
find "$@" -size -"$limit" -print0
printf '${separator}\\0'
exec find "$@" ! -size -"$limit" -print0`;

/** The regular files of a workspace that a search should look at, in the order of their paths. */
export async function listFiles(
  place: SearchPlace,
  options: ListOptions,
  signal: AbortSignal,
): Promise<readonly ListedFile[]> {
  const excluded = [...(options.exclude ?? []), ...(options.useIgnoreFiles ? excludedBySettings() : [])];
  const limit = options.maxBytes === undefined ? 0 : Math.ceil(options.maxBytes / blockBytes);
  const pruned = excluded.map(folderNameOf).filter((name) => name !== undefined);
  const { stdout, stderr } = await place.container.exec(
    {
      command: [
        'sh',
        '-c',
        findScript,
        'sh',
        place.workdir,
        `${limit}`,
        ...pruned.flatMap((name) => ['-name', name, '-prune', '-o']),
      ],
      workdir: '/',
      keepBytes: maxListBytes,
      ...(place.user === undefined ? {} : { user: place.user }),
    },
    signal,
  );
  const output = stdout.toString('latin1');
  if (output === '' && stderr.length > 0) {
    throw new UserError(`The files of the workspace cannot be listed: ${stderr.toString('utf8').trim()}`);
  }
  // What follows the last NUL was cut off.
  const paths = output.split('\0').slice(0, -1);
  const limitAt = paths.includes(separator) ? paths.indexOf(separator) : paths.length;
  const all = paths.flatMap((found, index): ListedFile[] => {
    if (index === limitAt) return [];
    const path = found.replace(/^\.\//, '');
    return [{ path, text: bytesToText(path), ...(index > limitAt ? { isTooLarge: true } : {}) }];
  });
  const isIgnored = options.useIgnoreFiles ? await readIgnoreFiles(place, all, signal) : () => false;
  const isExcluded = anyOf(excluded);
  const isIncluded = options.include?.length ? anyOf(options.include) : () => true;
  return all
    .filter(({ text }) => isIncluded(text) && !isExcluded(text) && !isIgnored(text))
    .sort((a, b) => (a.text < b.text ? -1 : 1));
}

/** `**` + `/name` and `name` can be pruned while the tree is walked; the rest is filtered afterwards. */
function folderNameOf(glob: string): string | undefined {
  return /^(?:\*\*\/)?([^/*?[\]{}\\!]+)$/.exec(glob)?.[1];
}

function anyOf(globs: readonly string[]): (text: string) => boolean {
  const patterns = globs.flatMap((glob) => {
    try {
      return [globToRegExp(glob)];
    } catch {
      return [];
    }
  });
  return (text) => patterns.some((pattern) => pattern.test(text));
}

function excludedBySettings(): string[] {
  return ['search', 'files'].flatMap((section) => {
    const value: unknown = vscode.workspace.getConfiguration(section).get('exclude');
    if (typeof value !== 'object' || value === null) return [];
    return Object.entries(value).flatMap(([glob, isOn]) => (isOn === true ? [glob] : []));
  });
}

async function readIgnoreFiles(
  place: SearchPlace,
  all: readonly ListedFile[],
  signal: AbortSignal,
): Promise<(text: string) => boolean> {
  const files = all
    .filter(({ path }) => path === '.gitignore' || path.endsWith('/.gitignore'))
    .sort((a, b) => a.path.length - b.path.length)
    .slice(0, maxIgnoreFiles);
  const rules = await Promise.all(
    files.map(async ({ path, text }) => {
      try {
        const content = await place.files.read(`${place.workdir}/${path}`, {
          signal,
          maxBytes: maxIgnoreBytes,
        });
        return parseIgnoreFile(content.toString('utf8'), text.slice(0, -'.gitignore'.length));
      } catch (error) {
        if (signal.aborted) throw error;
        return [];
      }
    }),
  );
  return createIgnore(rules.flat());
}

import { fromBinary, toBinary } from '#core/container/tarHeader.ts';
import type { SnapshotEntry } from '#core/snapshot/types.ts';
import { SnapshotView } from '#core/snapshot/view.ts';
import type { AttemptCommandContext } from './attemptContext.ts';
import { parseCommand, UsageError } from './context.ts';

/**
 * `e2e-swe attempt view ID SNAPSHOT [PATH] [--json]`: PATH as the list writes it, from the workdir where it has no
 * slash in front.
 */
export async function viewCommand(args: string[], context: AttemptCommandContext): Promise<number> {
  const { values, positionals } = parseCommand(args, { json: { type: 'boolean' } });
  const [id, snapshot, path, ...others] = positionals;
  if (id === undefined || snapshot === undefined || others.length > 0)
    throw new UsageError(
      'Name one attempt, one of its snapshots, and a file in it: attempt view ID SNAPSHOT [PATH].',
    );
  if (values.json && path !== undefined)
    throw new UsageError('A file is written as it is: leave --json out.');
  const store = context.attempts.snapshots(id);
  const view = await SnapshotView.open(store, await store.head(snapshot));
  if (path !== undefined) {
    for await (const piece of view.readStream(nameIn(view, path))) await context.stdoutBytes(piece);
    return 0;
  }
  const entries = view.list();
  if (values.json) context.stdout(`${JSON.stringify(entries.map(described), null, 2)}\n`);
  else context.stdout(entries.map((entry) => `${renderEntry(entry)}\n`).join(''));
  if (entries.length === 0) context.stderr('It is empty.\n');
  return 0;
}

/** Names for people, whatever a terminal would make of their bytes. */
export function shownPath(name: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is shown
  return `/${fromBinary(name).replace(/[\x00-\x1f\x7f]/g, (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, '0')}`)}`;
}

/** The bytes of a name that was given as it is shown; where there is none, as it was given. */
function nameIn(view: SnapshotView, path: string): string {
  const whole = path.startsWith('/') ? path : `${view.head.roots[0] ?? ''}/${path}`;
  return view.list().find(({ name }) => shownPath(name) === whole)?.name ?? toBinary(whole);
}

function described({ name, type, mode, uid, gid, mtime, size, linkName, sha256 }: SnapshotEntry): object {
  return {
    ...{ path: shownPath(name), type, mode: octal(mode), uid, gid, mtime, size },
    ...(type === 'symlink' ? { target: fromBinary(linkName) } : {}),
    ...(type === 'file' ? { sha256 } : {}),
  };
}

function renderEntry({ name, type, mode, size, linkName }: SnapshotEntry): string {
  const target = type === 'symlink' ? ` -> ${shownPath(linkName).slice(1)}` : '';
  return `${type.padEnd(9)}  ${octal(mode)}  ${String(size).padStart(10)}  ${shownPath(name)}${target}`;
}

function octal(mode: number): string {
  return mode.toString(8).padStart(4, '0');
}

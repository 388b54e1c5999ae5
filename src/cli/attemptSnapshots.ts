import { diffSnapshots, type SnapshotDiff } from '#core/snapshot/diff.ts';
import { isViewOnly, type SnapshotHead } from '#core/snapshot/types.ts';
import { verifySnapshots } from '#core/snapshot/verify.ts';
import { type AttemptCommandContext, oneId, requireYes } from './attemptContext.ts';
import { shownPath } from './attemptView.ts';
import { parseCommand, UsageError } from './context.ts';

/** `e2e-swe attempt snapshots ID [--verify] [--json]`: exit code 1 where something is damaged. */
export async function snapshotsCommand(args: string[], context: AttemptCommandContext): Promise<number> {
  const { values, positionals } = parseCommand(args, {
    json: { type: 'boolean' },
    verify: { type: 'boolean' },
  });
  const store = context.attempts.snapshots(oneId(positionals));
  const { heads, damaged } = await store.list();
  const damage = values.verify
    ? await verifySnapshots(store, context.signal)
    : damaged.map(({ id, error }) => ({ problem: error.message, snapshots: [id], paths: [] }));
  if (values.json) context.stdout(`${JSON.stringify({ snapshots: heads, damage }, null, 2)}\n`);
  else for (const head of heads) context.stdout(`${renderHead(head)}\n`);
  for (const { problem, snapshots, paths } of damage)
    context.stderr(
      `${problem} Spoiled: ${snapshots.join(', ')}${paths.length > 0 ? ` (${paths.join(', ')})` : ''}\n`,
    );
  if (heads.length === 0) context.stderr('There are no snapshots of it.\n');
  return damage.length > 0 ? 1 : 0;
}

/** `e2e-swe attempt snapshot ID`: its id alone goes to stdout, for scripts. */
export async function snapshotCommand(args: string[], context: AttemptCommandContext): Promise<number> {
  const { positionals } = parseCommand(args, {});
  const head = await context.attempts.snapshot(oneId(positionals), context.signal);
  context.stderr(`${renderHead(head)}\n`);
  context.stdout(`${head.id}\n`);
  return 0;
}

/** `e2e-swe attempt diff ID A B [--json]`: what B has otherwise than A; exit code 1 where they differ. */
export async function diffCommand(args: string[], context: AttemptCommandContext): Promise<number> {
  const { values, positionals } = parseCommand(args, { json: { type: 'boolean' } });
  const [id, a, b, ...others] = positionals;
  if (id === undefined || a === undefined || b === undefined || others.length > 0)
    throw new UsageError('Name one attempt and two of its snapshots: attempt diff ID A B.');
  const store = context.attempts.snapshots(id);
  const [older, newer] = [await store.head(a), await store.head(b)];
  const diff = diffSnapshots(await store.entries(older), await store.entries(newer));
  context.stdout(values.json ? `${JSON.stringify(shown(diff), null, 2)}\n` : renderDiff(diff));
  return Object.values(diff).every(({ length }) => length === 0) ? 0 : 1;
}

/** `e2e-swe attempt fork ID [SNAPSHOT]`: the new attempt's id alone goes to stdout. */
export async function forkCommand(args: string[], context: AttemptCommandContext): Promise<number> {
  const { positionals } = parseCommand(args, {});
  const [id, snapshot, ...others] = positionals;
  if (id === undefined || others.length > 0)
    throw new UsageError('Name one attempt, and one of its snapshots: attempt fork ID [SNAPSHOT].');
  for await (const event of context.attempts.fork(id, snapshot, context.signal)) {
    if (event.kind === 'phase') context.stderr(`${event.title}…\n`);
    else if (event.kind === 'progress') context.stderr(`  ${event.message}\n`);
    else if (event.kind === 'ready') {
      const { id: made, forkedFrom } = event.attempt;
      context.stderr(`${made} begins as ${id} was in ${forkedFrom?.snapshot}.\n`);
      context.stdout(`${made}\n`);
    }
  }
  return 0;
}

/** `e2e-swe attempt reset ID SNAPSHOT [--hard] --yes`: the id of the snapshot that undoes it goes to stdout. */
export async function resetCommand(args: string[], context: AttemptCommandContext): Promise<number> {
  const { values, positionals } = parseCommand(args, { hard: { type: 'boolean' }, yes: { type: 'boolean' } });
  const [id, snapshot, ...others] = positionals;
  if (id === undefined || snapshot === undefined || others.length > 0)
    throw new UsageError('Name one attempt and one of its snapshots: attempt reset ID SNAPSHOT.');
  const what = values.hard ? 'becomes' : 'gets back, besides what came since,';
  requireYes(values.yes, `The workspace of ${id} ${what} what it was in ${snapshot}.`);
  const before = await context.attempts.reset(id, snapshot, values.hard ? 'hard' : 'soft', context.signal);
  context.stderr(`To undo it: e2e-swe attempt reset ${id} ${before.id} --hard --yes\n`);
  context.stdout(`${before.id}\n`);
  return 0;
}

function renderHead(head: SnapshotHead): string {
  const notes = [
    head.source === 'container' ? "by the container's tools" : '',
    isViewOnly(head) ? `for viewing only: ${head.skipped.length} skipped` : '',
    head.unstable.length > 0 ? `${head.unstable.length} changing while read` : '',
  ].filter(Boolean);
  const megabytes = (head.bytes / 1e6).toFixed(1);
  const said = notes.length > 0 ? `  (${notes.join('; ')})` : '';
  return `${head.id}  ${head.at}  ${head.reason.padEnd(8)}  ${head.entries} entries, ${megabytes} MB${said}`;
}

function renderDiff(diff: SnapshotDiff): string {
  const what = (changes: readonly string[]): string =>
    changes.length > 0 ? `  (${changes.join(', ')})` : '';
  const lines = [
    ...diff.removed.map((name) => `D  ${shownPath(name)}`),
    ...diff.added.map((name) => `A  ${shownPath(name)}`),
    ...diff.changed.map((change) => `M  ${shownPath(change.name)}${what(change.what)}`),
    ...diff.renamed.map(
      (change) => `R  ${shownPath(change.from)} -> ${shownPath(change.to)}${what(change.what)}`,
    ),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function shown({ added, removed, changed, renamed }: SnapshotDiff): object {
  return {
    added: added.map(shownPath),
    removed: removed.map(shownPath),
    changed: changed.map(({ name, what }) => ({ path: shownPath(name), what })),
    renamed: renamed.map(({ from, to, what }) => ({ from: shownPath(from), to: shownPath(to), what })),
  };
}

import { setTimeout as delay } from 'node:timers/promises';
import type { Disposable } from '#core/base/disposable.ts';
import { Emitter, type Event } from '#core/base/event.ts';

export interface FsChange {
  readonly kind: 'created' | 'changed' | 'deleted';
  /** Binary string. */
  readonly path: string;
}

export interface FsWatch extends Disposable {
  /** What two looks differ in, all at once; parents before what is in them. */
  readonly onDidChange: Event<readonly FsChange[]>;
  /** A look failed: the container does not answer, or has ended. The next one is tried all the same. */
  readonly onDidFail: Event<void>;
  /** Milliseconds that the last look took. */
  readonly costMs: number;
}

/** A look may take a tenth of the time: in a large workspace the looks become rarer (fs-channel.md §2, "Watch"). */
const restPerCost = 9;
/** Between looks that fail, as in a frozen container. */
const retryMs = 5_000;

/**
 * Looks at a tree again and again. There is no other way: inotify reaches no one outside without a program inside.
 * A look that fails is no change; the next that succeeds tells what happened meanwhile.
 */
export function watchTree(
  scan: (signal: AbortSignal) => Promise<Map<string, string> | undefined>,
  intervalMs: number,
): FsWatch {
  const emitter = new Emitter<readonly FsChange[]>();
  const failed = new Emitter<void>();
  const stop = new AbortController();
  let costMs = 0;
  const run = async (): Promise<void> => {
    let before: Map<string, string> | undefined;
    while (!stop.signal.aborted) {
      const start = performance.now();
      const now = await scan(stop.signal).catch(() => undefined);
      costMs = performance.now() - start;
      if (now && !stop.signal.aborted) {
        const changes = before ? compareScans(before, now) : [];
        before = now;
        if (changes.length > 0) emitter.fire(changes);
      } else if (!stop.signal.aborted) failed.fire();
      const rest = now ? Math.max(intervalMs, restPerCost * costMs) : Math.max(intervalMs, retryMs);
      await delay(rest, undefined, { signal: stop.signal }).catch(() => undefined);
    }
  };
  void run();
  return {
    onDidChange: emitter.event,
    onDidFail: failed.event,
    get costMs() {
      return costMs;
    },
    dispose() {
      stop.abort();
      emitter.dispose();
      failed.dispose();
    },
  };
}

/** What happened between two looks; a file that became a folder, or the reverse, was deleted and created. */
export function compareScans(
  before: ReadonlyMap<string, string>,
  now: ReadonlyMap<string, string>,
): FsChange[] {
  const changes: FsChange[] = [];
  for (const [path, stamp] of before) {
    const other = now.get(path);
    if (other === undefined || (stamp === 'folder') !== (other === 'folder'))
      changes.push({ kind: 'deleted', path });
  }
  for (const [path, stamp] of now) {
    const other = before.get(path);
    if (other === undefined || (stamp === 'folder') !== (other === 'folder'))
      changes.push({ kind: 'created', path });
    else if (stamp !== other) changes.push({ kind: 'changed', path });
  }
  return changes;
}

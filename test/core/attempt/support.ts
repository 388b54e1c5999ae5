import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { AttemptStore, makeAttemptId } from '#core/attempt/attemptStore.ts';
import type { AttemptRecord } from '#core/attempt/types.ts';

/** A store of its own for each test of a file. */
export function useStore(): { readonly store: AttemptStore; readonly dir: string } {
  const used = { store: new AttemptStore('unused'), dir: '' };
  beforeEach(async () => {
    used.dir = await mkdtemp(path.join(tmpdir(), 'e2e-swe-attempt-'));
    used.store = new AttemptStore(path.join(used.dir, 'store'));
  });
  afterEach(() => rm(used.dir, { recursive: true, force: true }));
  return used;
}

export function record(parts: Partial<AttemptRecord> = {}): AttemptRecord {
  const id = parts.id ?? makeAttemptId('a-task');
  return {
    schemaVersion: 3,
    id,
    task: { name: 'a task', path: '/corpus/a-task', digest: 'sha256:0' },
    state: 'preparing',
    mode: 'channel',
    createdAt: '2026-01-02T03:04:05.000Z',
    workdir: '/app',
    image: { reference: 'image:1', id: 'sha256:1' },
    volume: `e2e-swe-workspace-${id}`,
    roots: ['/app', '/logs/artifacts'],
    limits: { cpus: 1, memoryMb: null },
    budgetSec: null,
    env: {},
    allowedHostEnv: [],
    history: [{ state: 'preparing', at: '2026-01-02T03:04:05.000Z' }],
    grades: [],
    ...parts,
  };
}

/** Numbers from 0 to 1 that a seed repeats (mulberry32). */
export function randoms(seed: number): () => number {
  let state = seed + 0x6d2b79f5;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll } from 'vitest';
import { loadTask } from '#core/task/load.ts';
import type { Task } from '#core/task/types.ts';
import type { ArchiveEntry, ArchiveHeader } from '#core/trial/archive.ts';

const made: string[] = [];

afterAll(() => {
  for (const dir of made.splice(0)) rmSync(dir, { recursive: true, force: true });
});

/** A new folder, removed after the tests of the file. */
export function tempDir(): string {
  const dir = mkdtempSync(path.join(tmpdir(), 'e2e-swe-trial-'));
  made.push(dir);
  return dir;
}

export interface EntryInput extends Partial<ArchiveHeader> {
  readonly name: string;
  readonly text?: string;
}

/** Entries as an archive gives them: folders end in a slash, a link has a `linkName`. */
export function entry({ name, text, ...rest }: EntryInput): ArchiveEntry {
  const folder = name.endsWith('/');
  return {
    header: {
      name: folder ? name.slice(0, -1) : name,
      type: folder ? 'directory' : rest.linkName === undefined ? 'file' : 'symlink',
      mode: folder ? 0o755 : 0o644,
      uid: process.getuid?.() ?? 0,
      gid: process.getgid?.() ?? 0,
      mtime: 1_700_000_000,
      linkName: '',
      ...rest,
    },
    body: {
      async *[Symbol.asyncIterator]() {
        if (text) yield Buffer.from(text);
      },
    },
  };
}

export async function* archive(...inputs: readonly EntryInput[]): AsyncGenerator<ArchiveEntry> {
  for (const input of inputs) yield entry(input);
}

/** Loads a task that a test wrote. */
export async function taskAt(dir: string): Promise<Task> {
  const { task, problems } = await loadTask(dir);
  if (!task) throw new Error(problems.map(({ message }) => message).join(' '));
  return task;
}

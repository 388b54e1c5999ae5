import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { UserError } from '#core/base/errors.ts';
import type { ContainerHandle } from '#core/container/engine.ts';
import type { TarEntry } from '#core/container/tarStream.ts';
import { excludeMatcher } from '#core/grading/excludes.ts';
import {
  archiveEntries,
  archivesOf,
  type RootArchive,
  rootName,
  type Submission,
  submissionFromEntries,
} from '#core/grading/submission.ts';
import type { Mark } from '#core/report/types.ts';
import { normaliseArtifacts } from '#core/task/artifacts.ts';
import type { Task } from '#core/task/types.ts';
import type { AttemptRecord } from './types.ts';

/** Beyond this the freeze is marked (design.md §4.1). */
const longFreezeMs = 60_000;
const progressMs = 1_000;

export interface TakenSubmission extends Submission {
  /** When the workspace was as it is in there; ISO 8601 UTC. */
  readonly at: string;
  readonly marks: readonly Mark[];
}

/**
 * The workspace of one moment: the engine streams it out of the frozen container, and nothing in there has a hand in
 * it. Kept in the folder by its hash. The caller froze it.
 */
export async function takeSubmission(
  record: AttemptRecord,
  folder: string,
  task: Task,
  container: ContainerHandle,
  options: {
    readonly onProgress?: (message: string) => void;
    /** Sees everything that the engine has there, before what the task leaves out is left out. */
    readonly through?: (entries: AsyncIterable<TarEntry>) => AsyncIterable<TarEntry>;
    readonly signal: AbortSignal;
  },
): Promise<TakenSubmission> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const temp = await mkdtemp(path.join(folder, '.taking-'));
  try {
    const since = performance.now();
    const at = new Date().toISOString();
    const told = counted(archivesOf(container, record.roots, options.signal), options.onProgress);
    const entries = archiveEntries(told);
    const submission = await submissionFromEntries(options.through?.(entries) ?? entries, {
      roots: record.roots,
      dir: temp,
      exclude: excludeMatcher(normaliseArtifacts(task)),
      signal: options.signal,
    });
    const frozenMs = performance.now() - since;
    if (!submission.entries.some(({ name }) => name === rootName(record.workdir)))
      throw new UserError(`The workspace ${record.workdir} of the attempt ${record.id} is not there.`, {
        nextStep: 'Open the attempt again.',
      });
    const file = path.join(folder, `${submission.sha256}.tar.gz`);
    await rename(submission.file, file);
    return { ...submission, file, at, marks: marksOf(frozenMs) };
  } finally {
    await rm(temp, { recursive: true, force: true });
  }
}

function marksOf(frozenMs: number): Mark[] {
  if (frozenMs <= longFreezeMs) return [];
  return [
    {
      rule: 'long-freeze',
      message: `The workspace was frozen for ${Math.round(frozenMs / 1000)} s while the submission was taken.`,
    },
  ];
}

async function* counted(
  archives: AsyncIterable<RootArchive>,
  onProgress: ((message: string) => void) | undefined,
): AsyncGenerator<RootArchive> {
  let bytes = 0;
  let told = performance.now();
  async function* count(archive: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of archive) {
      bytes += chunk.length;
      if (performance.now() - told > progressMs) {
        told = performance.now();
        onProgress?.(`${Math.round(bytes / 1e6)} MB taken`);
      }
      yield chunk;
    }
  }
  for await (const { root, archive } of archives) yield { root, archive: count(archive) };
}

import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import Docker from 'dockerode';
import type { GradeResult } from '#core/grading/types.ts';
import type { CrossCheck } from '#core/trial/crossCheck.ts';
import { harborCheckCommand } from '../../src/cli/harborCheck.ts';
import { base, taskFolderName } from './fixtures.ts';

const script = fileURLToPath(new URL('../../scripts/harbor/harbor.mjs', import.meta.url));

export interface Checked {
  readonly code: number;
  readonly outcome: string;
  readonly grade: GradeResult;
  readonly harbor: CrossCheck | null;
  readonly stderr: string;
}

/** Sets the real Harbor up once (an image with Harbor from PyPI), so that no test's time counts for it. */
export function setUpHarbor(): void {
  execFileSync(process.execPath, [script, '--version'], { stdio: ['ignore', 'ignore', 'inherit'] });
}

/** `e2e-swe harbor-check …` with the real Harbor. */
export async function harborCheck(task: string, ...args: readonly string[]): Promise<Checked> {
  let stdout = '';
  let stderr = '';
  const code = await harborCheckCommand(
    [task, ...args, '--harbor', `"${process.execPath}" "${script}"`, '--json'],
    {
      signal: new AbortController().signal,
      env: { ...process.env, E2E_SWE_HOME: path.join(base, 'home') },
      stdout: (text) => {
        stdout += text;
      },
      stderr: (text) => {
        stderr += text;
      },
      stdoutBytes: () => Promise.reject(new Error('The check writes text.')),
    },
  );
  const { outcome, grade, harbor } = JSON.parse(stdout) as Omit<Checked, 'code' | 'stderr'>;
  return { code, outcome, grade, harbor, stderr };
}

/** One line for the table of results. */
export function summary({ outcome, grade, harbor }: Checked): string {
  const ours = `${grade.verdict}${grade.reason ? ` (${grade.reason})` : ''} ${JSON.stringify(grade.rewards ?? null)}`;
  if (!harbor) return `${outcome} | ${ours} | -`;
  const { verdict, reason, rewards, exception } = harbor.theirs;
  return `${outcome} | ${ours} | ${verdict}${reason ? ` (${reason})` : ''} ${JSON.stringify(rewards)} ${exception?.type ?? ''} | ${harbor.way}`;
}

/** Removes the folders, and the images that the fixtures were built into. */
export async function cleanUp(): Promise<void> {
  rmSync(base, { recursive: true, force: true });
  const docker = new Docker();
  const images = await docker.listImages({
    filters: { reference: [`e2e-swe/${taskFolderName}`, `e2e-swe/${taskFolderName}-verifier`] },
  });
  for (const tag of images.flatMap(({ RepoTags }) => RepoTags ?? []))
    await docker.getImage(tag).remove({ force: true });
}

import type { ContainerHandle } from '#core/container/engine.ts';
import { writeReport } from '../fixtures/tasks/makeTask.ts';
import { docker } from './support.ts';

/** In the task's tests and solution; nowhere else. */
export const secret = `hidden-${process.pid}-from-builders`;

/** Runs the submission's setup.sh; both tests pass where it made built.txt with the word ok. */
export const testScript = `#!/bin/bash
# ${secret}
bash ./setup.sh || true
if [ "$(cat built.txt 2>/dev/null)" = ok ]; then
${writeReport({ first: 'passed', second: 'passed' }, 1)}
else
${writeReport({ first: 'passed', second: 'failed' }, 0)}
fi
`;

/** Reads events to their end. */
export async function drain(events: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of events);
}

/** Containers and volumes of an attempt, or of all of a store's. */
export async function traces({ id, storeDir }: { id?: string; storeDir?: string }): Promise<string[]> {
  const filter = id
    ? `label=dev.e2e-swe.workbench.attempt=${id}`
    : `label=dev.e2e-swe.workbench.store=${storeDir}`;
  const lines = [
    ...docker(['ps', '-aq', '--filter', filter]).split('\n'),
    ...docker(['volume', 'ls', '-q', '--filter', filter]).split('\n'),
  ];
  return lines.filter(Boolean);
}

/** Runs a script as root; everything that it said. */
export async function sh(inside: ContainerHandle, script: string): Promise<string> {
  const { stdout, stderr } = await inside.exec({ command: ['sh', '-c', script], user: '0' });
  return `${stdout}${stderr}`;
}

import type { ContainerEngine } from '#core/container/engine.ts';
import { gradeLabels } from '#core/container/labels.ts';
import { freePaths } from '#core/grading/aftermath.ts';
import { alteredTests } from '#core/grading/alteredTests.ts';
import { copyIn, inspectContainer, prepareContainer } from '#core/grading/copyIn.ts';
import { submissionFromFolder } from '#core/grading/submission.ts';
import { makeEmptyGrade } from './emptyGrade.ts';
import { median, timeEach } from './statistics.ts';

const runs = 7;
/** More, since it is a difference of two. */
const looksTimed = 31;

/** Milliseconds of each step that a grade takes for its evidence alone, in a container that holds the submission. */
export async function timeEvidence(
  engine: ContainerEngine,
  image: string,
  files: number,
  bytes: number,
): Promise<Readonly<Record<string, number>>> {
  const { signal } = new AbortController();
  const roots = ['/app'];
  const bench = await makeEmptyGrade(files, bytes);
  const container = await engine.createContainer({
    name: `e2e-swe-bench-evidence-${process.pid}`,
    image,
    command: ['sleep', '600'],
    labels: gradeLabels({}),
    network: 'none',
    cpus: null,
    memoryMb: null,
    pidsLimit: 4096,
  });
  try {
    await container.start();
    const submission = await submissionFromFolder(bench.workspace, { roots, dir: bench.home, signal });
    await prepareContainer(container, roots, submission, signal);
    const testsDir = `${bench.task.dir}/tests`;
    await copyIn(container, { submission, testsDir, owner: { uid: 0, gid: 0 } }, signal);
    const time = async (action: () => Promise<unknown>, times = runs): Promise<number> =>
      median(await timeEach(times, action));
    const looks: number[] = [];
    for (let i = 0; i < looksTimed; i++) {
      const exec = await time(
        () => container.exec({ command: ['sh', '-c', 'exec bash -c true'] }, signal),
        1,
      );
      // In a grade it has no exec of its own.
      looks.push((await time(() => inspectContainer(container, roots, submission, signal), 1)) - exec);
    }
    const look = median(looks);
    const watch = await time(async () => (await container.watchOom(() => undefined))());
    const processes = await time(() => container.processes(signal));
    await container.kill();
    const altered = await time(() => alteredTests(container, testsDir, signal));
    const changes = await time(() => container.changes(freePaths(roots), signal));
    return { look, watch, processes, altered, changes };
  } finally {
    await container.remove();
    await bench.dispose();
  }
}

import { UserError } from '#core/base/errors.ts';
import { type ContainerEngine, type ContainerHandle, EngineError } from '#core/container/engine.ts';
import { fromBinary, type TarHeader } from '#core/container/tarHeader.ts';
import { readTar } from '#core/container/tarStream.ts';
import { changesOutside, topmost } from '#core/grading/changes.ts';
import { copyIn, prepareContainer, verifierIds } from '#core/grading/copyIn.ts';
import { killContainer, withContainer } from '#core/grading/gradeContainer.ts';
import { clampLimits } from '#core/grading/plan.ts';
import { archivesOf, rootName, type Submission } from '#core/grading/submission.ts';
import type { Task } from '#core/task/types.ts';
import { type AttemptContext, workspaceSpec } from './context.ts';
import type { AttemptRecord, SetupResult } from './types.ts';

/**
 * Runs a submission's setup.sh, and nothing else, as a grade would: in a fresh container of the task's image, offline,
 * as the verifier's user. Nothing of the tests is there, so its output and its changes reveal nothing hidden.
 */
export async function runSetup(
  context: AttemptContext,
  engine: ContainerEngine,
  record: AttemptRecord,
  task: Task,
  submission: Submission,
  onOutput: (chunk: string) => void,
  signal: AbortSignal,
): Promise<SetupResult> {
  const { roots, workdir } = record;
  if (!submission.entries.some(({ name }) => name === `${rootName(workdir)}/setup.sh`))
    throw new UserError(`The workspace has no ${workdir}/setup.sh.`, {
      nextStep: 'Write the setup.sh that the spec asks for.',
    });
  const image = await engine.inspectImage(record.image.id, signal);
  if (!image) throw new EngineError('image-missing', `The image ${record.image.reference} is not there.`);
  const { user: wanted } = task.config.verifier;
  const user = wanted === null || wanted === '' ? undefined : String(wanted);
  const options = {
    image,
    limits: clampLimits(task.config.environment, await engine.info()),
    env: workspaceSpec(record, context.hostEnv).env,
    workdir,
    network: 'none' as const,
    log: context.log,
  };
  return withContainer(engine, options, async (container) => {
    await container.start(signal);
    await prepareContainer(container, roots, submission, signal);
    const owner = await verifierIds(container, user, image.user, signal);
    await copyIn(container, { submission, testsDir: undefined, owner }, signal);
    const free = [...roots, '/tmp', '/logs', '/dev'];
    const before = await container.changes(free, signal);
    const decoder = new TextDecoder();
    const since = performance.now();
    const { exitCode } = await container.exec(
      {
        command: ['bash', './setup.sh'],
        workdir,
        ...(user === undefined ? {} : { user }),
        keepBytes: 0,
        onOutput: (data) => onOutput(decoder.decode(data, { stream: true })),
      },
      signal,
    );
    const durationMs = Math.round(performance.now() - since);
    await killContainer(container);
    const known = new Set((before ?? []).map(({ kind, path }) => `${kind} ${path}`));
    const outside = ((await container.changes(free, signal)) ?? []).filter(
      ({ kind, path }) => !known.has(`${kind} ${path}`),
    );
    const inside = await changesInside(container, roots, submission, signal);
    return {
      exitCode,
      durationMs,
      changed: [...inside, ...changesOutside(outside, free).map(({ path }) => path)],
    };
  });
}

/** Entries of the roots that are not as they were sent. A folder's own time says nothing. */
async function changesInside(
  container: ContainerHandle,
  roots: readonly string[],
  submission: Submission,
  signal: AbortSignal,
): Promise<string[]> {
  const sent = new Map(submission.entries.map((header) => [header.name, header]));
  const seen = new Set<string>();
  const changes: Parameters<typeof topmost>[0][number][] = [];
  for await (const { root, archive } of archivesOf(container, roots, signal)) {
    const parent = rootName(root).split('/').slice(0, -1);
    for await (const { header } of readTar(archive)) {
      const name = [...parent, ...header.name.split('/').filter(Boolean)].join('/');
      seen.add(name);
      const old = sent.get(name);
      if (old && isSame(old, header)) continue;
      changes.push({ kind: old ? 'C' : 'A', path: `/${fromBinary(name)}` });
    }
  }
  for (const name of sent.keys())
    if (!seen.has(name)) changes.push({ kind: 'D', path: `/${fromBinary(name)}` });
  return topmost(changes)
    .map(({ path }) => path)
    .sort();
}

function isSame(old: TarHeader, now: TarHeader): boolean {
  // Of several names of one file any may come first in an archive.
  if (old.type === 'hardlink' || now.type === 'hardlink') return true;
  if (old.type !== now.type || old.mode !== now.mode) return false;
  if (old.type === 'directory') return true;
  return old.size === now.size && old.linkName === now.linkName && old.mtime === now.mtime;
}

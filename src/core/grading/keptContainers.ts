import { existsSync } from 'node:fs';
import path from 'node:path';
import { UserError } from '#core/base/errors.ts';
import type { ContainerEngine, ContainerHandle } from '#core/container/engine.ts';
import { currentOwner, keepLabel, ownerLabel, parseOwner } from '#core/container/labels.ts';

/** The container of a finished grade that was kept for a look inside. It holds the hidden tests. */
export interface KeptContainer {
  readonly id: string;
  readonly name: string;
  /** The grade's folder. */
  readonly gradeDir: string;
}

/** Those of this machine's grades; one whose grade still runs, or is deleted, is not among them. */
export async function listKept(engine: ContainerEngine): Promise<readonly KeptContainer[]> {
  const machine = (host = ''): string | undefined => host.split('/')[0];
  const own = machine(currentOwner().host);
  return (await engine.listContainers(keepLabel)).flatMap(({ id, name, labels }) => {
    const gradeDir = labels[keepLabel] ?? '';
    const isOurs = machine(parseOwner(labels[ownerLabel])?.host) === own;
    const isOver = path.isAbsolute(gradeDir) && existsSync(path.join(gradeDir, 'grade.json'));
    return isOurs && isOver ? [{ id, name, gradeDir }] : [];
  });
}

/**
 * The kept container of a grade, running: one that ended, as with a restart of the machine, is started again, with
 * nothing in it but its idle command. Errors: `UserError` when there is none, `EngineError` when it does not start.
 */
export async function openKept(
  engine: ContainerEngine,
  gradeDir: string,
  signal?: AbortSignal,
): Promise<ContainerHandle> {
  const [kept] = (await listKept(engine)).filter((other) => other.gradeDir === gradeDir);
  const container = kept && (await engine.findContainer(kept.id, signal));
  if (!container)
    throw new UserError('The container of this grade was not kept, or is gone.', {
      nextStep: 'Grade again with "Grade and keep container".',
    });
  if (!(await container.state(signal)).running) await container.start(signal);
  return container;
}

/** Removes the kept container of a grade. No error where there is none. */
export async function removeKept(engine: ContainerEngine, gradeDir: string): Promise<void> {
  for (const kept of await listKept(engine))
    if (kept.gradeDir === gradeDir) await engine.removeContainer(kept.id);
}

import path from 'node:path';
import { UserError } from '#core/base/errors.ts';
import type { ContainerEngine } from '#core/container/engine.ts';
import { currentOwner, isDeadOwner, ownerLabel, parseOwner, workbenchLabel } from '#core/container/labels.ts';
import { attemptLabel, deleteWorkspace, taskLabel } from '#core/container/workspaceContainer.ts';
import { findAttempt } from './attemptStore.ts';
import type { AttemptContext } from './context.ts';
import type { OrphanedWorkspace } from './types.ts';

/** On a workspace's volume: the store on its owner's machine that has the attempt. */
const storeLabel = 'dev.e2e-swe.workbench.store';

/** The engine, but every volume that is made says whose it is. */
export function withStoreLabel(engine: ContainerEngine, storeDir: string): ContainerEngine {
  return new Proxy(engine, {
    get(target, key) {
      if (key === 'createVolume')
        return (name: string, labels: Readonly<Record<string, string>>) =>
          target.createVolume(name, { ...labels, [storeLabel]: storeDir });
      const value: unknown = Reflect.get(target, key);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/**
 * Workspace volumes of this machine that no store has: neither ours nor the one that they were made for. Never one
 * whose container runs or is frozen; one of another machine on the same engine, or of a doubtful owner, is left alone.
 */
export async function listOrphans(
  { store }: AttemptContext,
  engine: ContainerEngine,
): Promise<OrphanedWorkspace[]> {
  const filter = `${workbenchLabel}=workspace`;
  const [volumes, containers] = await Promise.all([
    engine.listVolumes(filter),
    engine.listContainers(filter),
  ]);
  return volumes.flatMap(({ name, labels }) => {
    const attemptId = labels[attemptLabel] ?? '';
    const storeDir = labels[storeLabel];
    const isAlive = containers.some((other) => other.running && other.labels[attemptLabel] === attemptId);
    if (isAlive || attemptId === '' || store.find(attemptId) !== undefined) return [];
    if (!isForsaken(attemptId, storeDir, labels[ownerLabel])) return [];
    return [{ name, attemptId, taskName: labels[taskLabel] ?? '', storeDir }];
  });
}

/** Errors: `UserError` when it is none (any more): looked at again, since a list may be old. */
export async function removeOrphan(
  context: AttemptContext,
  engine: ContainerEngine,
  name: string,
): Promise<void> {
  const orphan = (await listOrphans(context, engine)).find((other) => other.name === name);
  if (!orphan)
    throw new UserError(`${name} is no orphaned workspace: an attempt has it, or it runs.`, {
      nextStep: 'List the orphaned workspaces again.',
    });
  await deleteWorkspace(engine, orphan.attemptId);
}

function isForsaken(attemptId: string, storeDir: string | undefined, ownerText: string | undefined): boolean {
  const owner = parseOwner(ownerText);
  if (!owner) return false;
  // Made without a store: a test's, or a dead tool's.
  if (storeDir === undefined) return isDeadOwner(owner);
  const machine = (host: string): string | undefined => host.split('/')[0];
  return (
    machine(owner.host) === machine(currentOwner().host) &&
    path.isAbsolute(storeDir) &&
    findAttempt(storeDir, attemptId) === undefined
  );
}

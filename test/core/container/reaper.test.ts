import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import type { ContainerEngine, ListedContainer } from '#core/container/engine.ts';
import { currentOwner, formatOwner, keepLabel, ownerLabel, workbenchLabel } from '#core/container/labels.ts';
import { reapContainers } from '#core/container/reaper.ts';

const dead = formatOwner({ ...currentOwner(), pid: spawnSync('true').pid });

function listed(name: string, labels: Record<string, string>): ListedContainer {
  return { id: `id-${name}`, name, labels: { [workbenchLabel]: 'grade', ...labels }, running: true };
}

/** An engine that knows only how to list and to remove. */
function engineOf(
  containers: readonly ListedContainer[],
  failing: readonly string[] = [],
): { engine: ContainerEngine; removed: string[]; asked: string[] } {
  const removed: string[] = [];
  const asked: string[] = [];
  const engine = {
    listContainers(label: string) {
      asked.push(label);
      return Promise.resolve(containers);
    },
    removeContainer(id: string) {
      if (failing.includes(id)) return Promise.reject(new Error(`${id} is stuck`));
      removed.push(id);
      return Promise.resolve();
    },
  } as unknown as ContainerEngine;
  return { engine, removed, asked };
}

const all = [
  listed('dead', { [ownerLabel]: dead }),
  listed('alive', { [ownerLabel]: formatOwner(currentOwner()) }),
  listed('foreign', { [ownerLabel]: dead.replace(/^/, 'other-') }),
  listed('ownerless', {}),
  listed('garbled', { [ownerLabel]: 'nonsense' }),
  listed('kept', { [ownerLabel]: dead, [keepLabel]: 'true' }),
  listed('kept-alive', { [ownerLabel]: formatOwner(currentOwner()), [keepLabel]: 'true' }),
];

test('only what a dead owner of this host left is removed', async () => {
  const { engine, removed, asked } = engineOf(all);
  expect(await reapContainers(engine, { kept: false })).toEqual(['dead']);
  expect(removed).toEqual(['id-dead']);
  expect(asked).toEqual([`${workbenchLabel}=grade`]);
});

test('on request also what a dead run was asked to keep', async () => {
  const { engine, removed } = engineOf(all);
  expect(await reapContainers(engine, { kept: true })).toEqual(['dead', 'kept']);
  expect(removed).toEqual(['id-dead', 'id-kept']);
});

test('one that cannot be removed does not save the others, and is told', async () => {
  const { engine, removed } = engineOf([...all, listed('dead2', { [ownerLabel]: dead })], ['id-dead']);
  await expect(reapContainers(engine, { kept: false })).rejects.toThrow(/id-dead is stuck/);
  expect(removed).toEqual(['id-dead2']);
});

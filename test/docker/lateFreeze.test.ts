import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AttemptStore } from '#core/attempt/attemptStore.ts';
import { Attempts } from '#core/attempt/attempts.ts';
import type { ContainerEngine, ContainerHandle } from '#core/container/engine.ts';
import { docker, Lab } from './support.ts';

const never = new AbortController().signal;

let lab: Lab;
let store: AttemptStore;
let id = '';

const attemptsOver = (engine: ContainerEngine): Attempts =>
  new Attempts({ store, connect: () => Promise.resolve(engine), log: lab.log, hostEnv: {} });

beforeAll(async () => {
  lab = await Lab.open();
  store = new AttemptStore(path.join(lab.dir, 'store'));
  for await (const event of attemptsOver(lab.engine).start(await lab.task(), {}, never))
    if (event.kind === 'ready') id = event.attempt.id;
});

afterAll(async () => {
  if (id !== '') await attemptsOver(lab.engine).delete(id);
  const images = docker(['images', '--format', '{{.Repository}}:{{.Tag}}', 'e2e-swe/shell-task']);
  for (const image of images.split('\n').filter(Boolean)) lab.owns(image);
  await lab.dispose();
});

/** An engine in which a freeze, asked for by a window that was killed, comes right after the first `late` thaws. */
function withLateFreezes(engine: ContainerEngine, late: number): ContainerEngine {
  let left = late;
  const frozen = (container: ContainerHandle): ContainerHandle =>
    replace(container, {
      unpause: async () => {
        await container.unpause();
        if (left-- > 0) await container.pause();
      },
    });
  return replace(engine, {
    findContainer: async (...args) => {
      const found = await engine.findContainer(...args);
      return found && frozen(found);
    },
  });
}

function replace<T extends object>(target: T, parts: Partial<T>): T {
  return new Proxy(target, {
    get(of, key) {
      const value: unknown = Reflect.get(Object.hasOwn(parts, key) ? parts : of, key);
      return typeof value === 'function' ? value.bind(of) : value;
    },
  });
}

test('a freeze that comes late, from a window that was killed, does not keep an attempt from being opened', async () => {
  for (const late of [1, 2]) {
    const since = performance.now();
    const open = await attemptsOver(withLateFreezes(lab.engine, late)).open(id, never);
    expect(performance.now() - since).toBeLessThan(60_000);
    expect(open).toMatchObject({ readOnly: false, isolation: { isIsolated: true } });
    expect((await open.files.list('/app')).map(({ name }) => name)).toEqual(['instruction.md']);
    await open.close();
  }
});

test('one that is frozen again and again is told, and given back', async () => {
  const attempts = attemptsOver(withLateFreezes(lab.engine, 50));
  await expect(attempts.open(id, never)).rejects.toThrow(/paused/);
  expect(await attempts.whoHas(id)).toBeUndefined();
});

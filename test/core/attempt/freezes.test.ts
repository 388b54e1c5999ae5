import { expect, test } from 'vitest';
import { Freezes } from '#core/attempt/freezes.ts';
import { nullLog } from '#core/base/log.ts';
import type { ContainerHandle, ExecResult } from '#core/container/engine.ts';

/** A container that notes what is done with it; `fails` makes the next pause fail. */
function makeContainer() {
  const log: string[] = [];
  const state = { log, fails: false, isPaused: true };
  const done: ExecResult = { exitCode: 0, stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) };
  const container = {
    name: 'c',
    pause: async () => {
      if (state.fails) throw new Error('no answer');
      if (!state.isPaused) log.push('pause');
      state.isPaused = true;
    },
    unpause: async () => {
      if (state.isPaused) log.push('unpause');
      state.isPaused = false;
    },
    exec: async ({ command }: { command: readonly string[] }) => {
      log.push(`exec ${command[0]}`);
      return done;
    },
  } as unknown as ContainerHandle;
  return { container, state, log };
}

function makeFreezes(log: string[]): Freezes {
  const freezes = new Freezes(nullLog);
  freezes.onDidChange(({ reason }) => log.push(reason ?? 'thawed'));
  return freezes;
}

test('it stands still exactly while nobody works in it or something holds it', async () => {
  const { container, state, log } = makeContainer();
  const freezes = makeFreezes(log);
  await freezes.enter('a', container);
  const grade = await freezes.hold('a', container, 'grade');
  expect(freezes.reasonOf('a')).toBe('grade');
  expect(await freezes.during('a', container, 'comparison', async () => state.isPaused)).toBe(true);
  await grade();
  await grade();
  await freezes.during('b', container, 'setup', async () => undefined);
  expect(log).toEqual(['unpause', 'grade', 'pause', 'unpause', 'thawed', 'setup', 'pause', 'thawed']);
});

test('that it runs is kept before it does', async () => {
  const { container, log } = makeContainer();
  const freezes = new Freezes(nullLog);
  freezes.onDidSettle(({ isFrozen }) => log.push(isFrozen ? 'told frozen' : 'told thawed'));
  freezes.persist = async () => {
    await Promise.resolve();
    log.push('kept');
  };
  await freezes.enter('a', container);
  await freezes.leave('a', container);
  expect(log.slice(0, 5)).toEqual(['told thawed', 'kept', 'unpause', 'pause', 'told frozen']);
});

test('a hold outlives the session, and nobody works in it afterwards', async () => {
  const { container, state, log } = makeContainer();
  const freezes = makeFreezes(log);
  await freezes.enter('a', container);
  const release = await freezes.hold('a', container, 'grade');
  await freezes.leave('a', container);
  await release();
  expect(state.isPaused).toBe(true);
  await freezes.enter('a', container);
  expect(state.isPaused).toBe(false);
});

test('a freeze that fails is none; of a container that was ended only the word is taken back', async () => {
  const { container, state, log } = makeContainer();
  const freezes = makeFreezes(log);
  await freezes.enter('a', container);
  state.fails = true;
  await expect(freezes.hold('a', container, 'submit')).rejects.toThrow('no answer');
  state.fails = false;
  expect(log).toEqual(['unpause', 'submit', 'thawed']);
  const release = await freezes.hold('a', container, 'submit');
  await release({ hasEnded: true });
  expect(log.slice(3)).toEqual(['submit', 'pause', 'thawed']);
});

test('what is started while it is held waits for the thaw, or is cancelled', async () => {
  const { container, log } = makeContainer();
  const freezes = makeFreezes(log);
  await freezes.enter('a', container);
  const through = freezes.through('a', container);
  expect(through.name).toBe('c');
  const release = await freezes.hold('a', container, 'grade');
  const waiting = through.exec({ command: ['late'] });
  await expect(through.exec({ command: ['never'] }, AbortSignal.timeout(10))).rejects.toThrow('Cancelled');
  await release();
  await waiting;
  expect(log).toEqual(['unpause', 'grade', 'pause', 'unpause', 'thawed', 'exec late']);
});

test('a clock is told before the thaw and after the freeze, and of nothing that did not happen', async () => {
  const { container, state, log } = makeContainer();
  const freezes = new Freezes(nullLog);
  freezes.beforeThaw = async () => void log.push('guard');
  freezes.onDidSettle(({ isFrozen, reason }) => log.push(isFrozen ? `stops: ${reason}` : 'starts'));
  await freezes.enter('a', container);
  await freezes.during('a', container, 'setup', () =>
    freezes.during('a', container, 'comparison', async () => undefined),
  );
  state.fails = true;
  await expect(freezes.hold('a', container, 'grade')).rejects.toThrow('no answer');
  state.fails = false;
  await freezes.leave('a', container);
  expect(log).toEqual([
    ...['guard', 'starts', 'unpause', 'pause', 'stops: setup', 'guard', 'starts', 'unpause'],
    ...['pause', 'stops: closed'],
  ]);
});

test('a container that cannot be thawed stands; one that somebody else froze is thawed again', async () => {
  const { container, state, log } = makeContainer();
  const freezes = new Freezes(nullLog);
  freezes.onDidSettle(({ isFrozen }) => log.push(isFrozen ? 'stops' : 'starts'));
  const unpause = container.unpause.bind(container);
  container.unpause = () => Promise.reject(new Error('gone'));
  await expect(freezes.enter('a', container)).rejects.toThrow('gone');
  container.unpause = unpause;
  await freezes.enter('a', container);
  state.isPaused = true;
  await freezes.resettle('a', container);
  expect([log, state.isPaused]).toEqual([
    ['starts', 'stops', 'starts', 'unpause', 'starts', 'unpause'],
    false,
  ]);
});

test('a container that died under the session: the next one thaws anew, so that the clock is told', async () => {
  const { container, state, log } = makeContainer();
  const freezes = new Freezes(nullLog);
  freezes.onDidSettle(({ isFrozen }) => log.push(isFrozen ? 'clock stands' : 'clock runs'));
  await freezes.enter('a', container);
  state.fails = true;
  await expect(freezes.leave('a', container)).rejects.toThrow('no answer');
  const next = makeContainer();
  await freezes.enter('a', next.container);
  expect(log).toEqual(['clock runs', 'unpause', 'clock runs']);
  expect(next.state.isPaused).toBe(false);
  // One that ended on purpose is left without its container.
  await freezes.leave('a', undefined);
  await freezes.enter('a', makeContainer().container);
  expect(log.filter((line) => line === 'clock runs')).toHaveLength(3);
});

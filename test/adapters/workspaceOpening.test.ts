import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { OpenAttempt } from '#core/attempt/types.ts';
import { CancelledError } from '#core/base/errors.ts';
import { openPatiently } from '#vscode/workspace/openPatiently.ts';
import { FakeRoom, makeAttempt } from './support/attempts.ts';

let room: FakeRoom;

beforeEach(() => {
  room = new FakeRoom();
  room.add(makeAttempt('one'));
});
afterEach(() => {
  vi.restoreAllMocks();
});

const live = (): AbortSignal => new AbortController().signal;

test('a window that reloads waits until the one before has let go', async () => {
  room.isSecondWindow = true;
  setTimeout(() => {
    room.isSecondWindow = false;
  }, 300);
  expect((await openPatiently(room)('one', live())).readOnly).toBe(false);
});

test('the waiting can be cancelled', async () => {
  room.isSecondWindow = true;
  const controller = new AbortController();
  setTimeout(() => controller.abort(), 50);
  await expect(openPatiently(room)('one', controller.signal)).rejects.toBeInstanceOf(CancelledError);
  expect(room.calls).toEqual([]);
});

test('an opening that hangs is made again; a failure is not', async () => {
  vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => AbortSignal.abort());
  let tries = 0;
  const open = async (id: string, signal: AbortSignal): Promise<OpenAttempt> => {
    tries++;
    if (signal.aborted) throw new CancelledError();
    return room.open(id);
  };
  await openPatiently({ open, isTaken: async () => false })('one', live());
  expect(tries).toBe(3);
  vi.restoreAllMocks();
  const failing = async (): Promise<OpenAttempt> => {
    tries++;
    throw new Error('no engine');
  };
  await expect(openPatiently({ open: failing, isTaken: async () => false })('one', live())).rejects.toThrow(
    'no engine',
  );
  expect(tries).toBe(4);
});

import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AttemptStore } from '#core/attempt/attemptStore.ts';
import { Attempts } from '#core/attempt/attempts.ts';
import type { OpenAttempt } from '#core/attempt/types.ts';
import type { GradeResult } from '#core/grading/types.ts';
import { Lab, waitFor } from './support.ts';

const never = new AbortController().signal;

let lab: Lab;
let attempts: Attempts;
let open: OpenAttempt;
let id: string;

beforeAll(async () => {
  lab = await Lab.open();
  const store = new AttemptStore(path.join(lab.dir, 'store'));
  attempts = new Attempts({ store, connect: async () => lab.engine, log: lab.log, hostEnv: {} });
  for await (const event of attempts.start(await lab.task(), {}, never))
    if (event.kind === 'ready') id = event.attempt.id;
  open = await attempts.open(id, never);
});
afterAll(async () => {
  await open?.close();
  await attempts.delete(id);
  await lab.dispose();
});

async function grade(): Promise<GradeResult> {
  for await (const event of attempts.grade(id, {}, never))
    if (event.kind === 'finished') {
      const { reference } = event.result.evidence.image ?? {};
      if (reference) lab.owns(reference);
      return event.result;
    }
  throw new Error('No result.');
}

const names = async (): Promise<string[]> => (await lab.ownContainers()).map(({ name }) => name);

test('a grade after an edit runs in the container that was started at the edit, and only there', async () => {
  expect((await grade()).verdict).toBe('unresolved');
  expect(await names()).toEqual([]);
  await open.files.write('/app/ok.txt', Buffer.from('ok\n'));
  open.recorder?.append({ kind: 'file', what: 'created', path: '/app/ok.txt', actor: 'human' });
  await waitFor('the prepared container', async () => (await names()).length === 1);
  const [prepared] = await names();
  const during = new Set<string>();
  const watching = setInterval(() => void names().then((found) => found.map((name) => during.add(name))), 20);
  const result = await grade();
  clearInterval(watching);
  expect(result).toMatchObject({
    verdict: 'resolved',
    evidence: { arrival: { differing: [] }, processesLeft: [], changedOutside: [] },
  });
  expect([...during]).toEqual([prepared]);
  expect(await names()).toEqual([]);
});

test('what is prepared goes with the session', async () => {
  open.recorder?.append({ kind: 'file', what: 'created', path: '/app/ok.txt', actor: 'human' });
  await waitFor('the prepared container', async () => (await names()).length === 1);
  await open.close();
  expect(await names()).toEqual([]);
});

import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { Attempts } from '#core/attempt/attempts.ts';
import { exampleDebrief, exampleProtocol, readDebrief, readProtocol } from '#core/attempt/readConditions.ts';
import type { AttemptEvent } from '#core/attempt/types.ts';
import { UserError } from '#core/base/errors.ts';
import { nullLog } from '#core/base/log.ts';
import { FakeEngine } from '../../fakes/engine.ts';
import { Bench } from '../grading/support.ts';
import { record, useStore } from './support.ts';

const used = useStore();
const json = (more: object): string => JSON.stringify({ ...exampleProtocol, ...more });

test('the examples are what is read', () => {
  expect(readProtocol(json({}), 'p.json')).toEqual(exampleProtocol);
  expect(readDebrief(JSON.stringify(exampleDebrief), 'd.json')).toEqual(exampleDebrief);
});

test.each([
  ['{"tier":', 'p.json is no JSON.'],
  ['[]', 'p.json: it is no JSON object.'],
  [json({ tier: undefined }), 'p.json: the field "tier" is missing.'],
  [
    json({ tier: 'all' }),
    'p.json: the field "tier" is "all", not as it should be (one of "counts", "names", "messages", "full").',
  ],
  [json({ teir: 'counts' }), 'p.json: there is no field "teir".'],
  [
    json({ expertise: ['python', 3] }),
    'p.json: the field "expertise.1" is 3, not as it should be (expected string, received number).',
  ],
  [
    json({ experienceYears: -1 }),
    'p.json: the field "experienceYears" is -1, not as it should be (expected number to be >=0).',
  ],
])('conditions that are wrong: %s', (text, message) => {
  expect(() => readProtocol(text, 'p.json')).toThrow(message);
});

test('nothing is left of a measured attempt that cannot be started', async () => {
  const bench = await Bench.make();
  try {
    const task = await bench.task();
    const connect = async () => new FakeEngine({ faults: ['build-fails'] });
    const attempts = new Attempts({ store: used.store, connect, log: nullLog, hostEnv: {} });
    const { signal } = new AbortController();
    const seen: AttemptEvent[] = [];
    const start = async () => {
      for await (const event of attempts.start(task, { protocol: exampleProtocol }, signal)) seen.push(event);
    };
    await expect(start()).rejects.toThrow(UserError);
    expect(seen[0]).toMatchObject({ kind: 'preparing', attempt: { protocol: exampleProtocol } });
    expect(await readdir(path.join(used.store.storeDir, 'attempts'))).toEqual([]);
  } finally {
    await bench.remove();
  }
});

test('a debrief is kept with an attempt that is over, and each one in its record', async () => {
  const connect = () => Promise.reject(new Error('no engine'));
  const attempts = new Attempts({ store: used.store, connect, log: nullLog, hostEnv: {} });
  const { id } = record();
  await used.store.create(record({ id, state: 'ready' }));
  await expect(attempts.debrief(id, exampleDebrief)).rejects.toThrow(
    `The attempt ${id} is not over: a debrief is for afterwards.`,
  );
  await used.store.move(id, 'gave-up');
  await attempts.debrief(id, exampleDebrief);
  const second = { ...exampleDebrief, difficulty: null };
  expect((await attempts.debrief(id, second)).debrief).toEqual(second);
  expect((await used.store.read(id)).debrief).toEqual(second);
  const lines = (await readFile(path.join(used.store.dirOf(id), 'record.jsonl'), 'utf8')).trim().split('\n');
  expect(lines.map((line) => JSON.parse(line)).filter(({ kind }) => kind === 'debrief')).toMatchObject([
    { debrief: exampleDebrief },
    { debrief: second },
  ]);
});

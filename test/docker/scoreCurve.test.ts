import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AttemptStore } from '#core/attempt/attemptStore.ts';
import { Attempts } from '#core/attempt/attempts.ts';
import type { ScoreCurve } from '#core/attempt/curvePoints.ts';
import type { AttemptProtocol } from '#core/attempt/protocol.ts';
import { readRecordLines } from '#core/attempt/readRecordLog.ts';
import { recordFileOf } from '#core/attempt/recorder.ts';
import type { CurveEvent, CurveOptions } from '#core/attempt/scoreCurve.ts';
import type { OpenAttempt } from '#core/attempt/types.ts';
import { drain, sh, testScript } from './attemptSupport.ts';
import { docker, ensureCli, Lab, runCli } from './support.ts';

const never = new AbortController().signal;

let lab: Lab;
let store: AttemptStore;
let attempts: Attempts;
let open: OpenAttempt;
let id = '';
const taken: string[] = [];

beforeAll(async () => {
  ensureCli();
  lab = await Lab.open();
  store = new AttemptStore(path.join(lab.dir, 'store'));
  attempts = new Attempts({ store, connect: async () => lab.engine, log: lab.log, hostEnv: {} });
  for await (const event of attempts.start(await lab.task({ testScript }), {}, never))
    if (event.kind === 'ready') id = event.attempt.id;
  open = await attempts.open(id, never);
  // Nothing, half of it, a set-up that works, and the same files again.
  for (const script of [
    'true',
    'echo "echo no >built.txt" >/app/setup.sh',
    'echo "echo ok >built.txt" >/app/setup.sh',
    'true',
  ]) {
    await sh(open.container, script);
    open.recorder?.append({ kind: 'note', text: script });
    taken.push((await attempts.snapshot(id, never)).id);
  }
});

afterAll(async () => {
  await open?.close();
  for (const attempt of await store.list()) await attempts.delete(attempt.id);
  const images = docker(['images', '--format', '{{.Repository}}:{{.Tag}}', 'e2e-swe/shell-task']);
  for (const image of images.split('\n').filter(Boolean)) lab.owns(image);
  await lab.dispose();
});

async function make(options: CurveOptions, signal = never): Promise<{ curve: ScoreCurve; kinds: string[] }> {
  const events: CurveEvent[] = [];
  for await (const event of attempts.scoreCurve(id, options, signal)) events.push(event);
  const last = events.at(-1);
  if (last?.kind !== 'curve') throw new Error('no curve');
  return { curve: last.curve, kinds: events.map(({ kind }) => kind).filter((kind) => kind !== 'grade') };
}

const cli = (...args: string[]) =>
  runCli(['attempt', 'curve', id, ...args], { E2E_SWE_HOME: store.storeDir }, lab.dir);

const measured: AttemptProtocol = {
  ...({ pseudonym: 'p1', exposure: 'none', experienceYears: null, aiPolicy: 'none' } as const),
  ...({ otherDevice: 'nothing', tier: 'counts', interimGrading: false } as const),
  expertise: [],
};

test('it is refused while its builder could learn of it; practice is shown to the task’s author', async () => {
  await expect(make({})).rejects.toThrow('is not over');
  expect(await cli()).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('not over') });
  await store.update(id, (old) => ({ ...old, protocol: measured }));
  await expect(make({ asAuthor: true })).rejects.toThrow('is measured and not over');
  await store.update(id, ({ protocol: _, ...old }) => old);
  const before = (await store.read(id)).grades;
  const { curve, kinds } = await make({ asAuthor: true, snapshots: [taken[1] as string] });
  expect(curve.points).toMatchObject([{ snapshot: taken[1], passed: 1, verdict: 'unresolved', by: 'curve' }]);
  expect(kinds).toEqual(['planned', 'grading', 'point', 'curve']);
  // It is no grade of the attempt; that it was shown while somebody builds is in the record.
  expect((await store.read(id)).grades).toEqual(before);
  await open.recorder?.flush();
  const reveals: unknown[] = [];
  for await (const line of readRecordLines(recordFileOf(store.dirOf(id)))) {
    expect(line.kind).not.toMatch(/^grade/);
    if (line.kind === 'revealed-outside') reveals.push(line);
  }
  expect(reveals).toMatchObject([{ what: 'score-curve', of: id, tier: 'counts' }]);
});

test('once it is over: each files are graded once, in their order, and the official grade is not made again', async () => {
  await drain(attempts.submit(id, never));
  await open.close();
  const stop = new AbortController();
  const cancelled = (async () => {
    for await (const event of attempts.scoreCurve(id, { everyMinutes: 0.0001 }, stop.signal))
      if (event.kind === 'grade' && event.event.kind === 'phase' && event.event.phase === 'container')
        stop.abort();
  })();
  await expect(cancelled).rejects.toThrow('Cancelled');
  expect(await lab.ownContainers()).toEqual([]);
  const first = await make({ everyMinutes: 0.0001 });
  expect(first.curve).toMatchObject({ total: 2, attempt: id });
  expect(first.curve.points.map(({ passed, verdict, by }) => [passed, verdict, by])).toEqual([
    [1, 'unresolved', 'curve'],
    [1, 'unresolved', 'curve'],
    [2, 'resolved', 'curve'],
  ]);
  // That of the author's curve was there.
  expect(first.kinds.filter((kind) => kind === 'grading')).toHaveLength(2);
  const active = first.curve.points.map(({ activeMs }) => activeMs);
  expect(active).toEqual(active.toSorted((a, b) => a - b));
  expect(active.at(-1)).toBeGreaterThan(0);
  const again = await make({ everyMinutes: 0.0001 });
  expect(again.kinds).toEqual(['planned', 'point', 'point', 'point', 'curve']);
  expect(again.curve).toEqual(first.curve);
  const { submission, grades } = await store.read(id);
  const official = await make({ snapshots: [submission?.snapshot ?? ''] });
  expect(official.curve.points).toMatchObject([{ by: 'official', dir: grades[0]?.dir }]);
  const left = await readdir(path.join(store.dirOf(id), 'curve'));
  expect(left.filter((name) => name.startsWith('.'))).toEqual([]);
  expect(left).toHaveLength(3);
  // Points of one curve are of one kind: a plain grade is none of a hardened curve.
  const hardened = await make({ everyMinutes: 0.0001, hardened: true });
  expect(hardened.curve.points.map(({ verdict, reason }) => [verdict, reason])).toEqual(
    first.curve.points.map(() => ['not graded', 'task-unsupported']),
  );
});

test('the command line writes it as a picture, a table and JSON, without grading again', async () => {
  const out = (name: string): string => path.join(lab.dir, name);
  for (const name of ['curve.svg', 'curve.csv', 'curve.json']) {
    const { code, stdout, stderr } = await cli('--every', '0.0001', '--theme', 'dark', '--out', out(name));
    expect([code, stdout]).toEqual([0, '']);
    expect(stderr).toContain('3 snapshots, 3 of them graded already.');
  }
  expect(await readFile(out('curve.svg'), 'utf8')).toMatch(
    /^<svg [\s\S]*2 of 2 passed, resolved\.[\s\S]*<\/svg>\n$/u,
  );
  expect((await readFile(out('curve.csv'), 'utf8')).split('\r\n')).toHaveLength(5);
  expect(JSON.parse(await readFile(out('curve.json'), 'utf8'))).toMatchObject({ schemaVersion: 1, total: 2 });
  const table = await cli('--snapshots', taken.join(','));
  expect(table.stdout.trim().split('\n')).toHaveLength(4);
  expect(table.stdout).toMatch(/ 2\/2 {2}resolved\n$/);
  expect(await cli('--out', out('curve.png'))).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('editor'),
  });
  expect(await cli('--every', '0')).toMatchObject({ code: 2 });
  expect(await cli('--snapshots', 'nothere')).toMatchObject({ code: 2, stdout: '' });
});

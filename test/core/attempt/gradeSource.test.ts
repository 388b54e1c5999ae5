import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Attempts } from '#core/attempt/attempts.ts';
import type { AttemptContext } from '#core/attempt/context.ts';
import { gradeSource } from '#core/attempt/gradeSource.ts';
import type { AttemptProtocol, Tier } from '#core/attempt/protocol.ts';
import { exampleProtocol } from '#core/attempt/readConditions.ts';
import type { RecordEvent } from '#core/attempt/recordEvents.ts';
import type { AttemptRecord } from '#core/attempt/types.ts';
import { nullLog } from '#core/base/log.ts';
import { walkFolder } from '#core/container/folderTar.ts';
import { PreparedContainers } from '#core/grading/prepared.ts';
import { readGrade } from '#core/grading/store.ts';
import type { AttemptSource, GradeEvent, GradeResult } from '#core/grading/types.ts';
import type { Task } from '#core/task/types.ts';
import { FakeEngine, type FakeOptions } from '../../fakes/engine.ts';
import { pack } from '../container/tarTools.ts';
import { Bench } from '../grading/support.ts';
import { record, useStore } from './support.ts';

const used = useStore();
let bench: Bench;
let task: Task;
beforeAll(async () => {
  bench = await Bench.make();
  task = await bench.task({ files: { 'tests/tell_tale.py': 'tell_tale' } });
});
afterAll(() => bench.remove());

/** In everything that the tests and the engine say. */
const secret = 'tell_tale';
const engineOptions: FakeOptions = {
  test: async (files, print) => {
    await print(`running ${secret}\n`);
    files.write(
      '/logs/verifier/ctrf.json',
      JSON.stringify({
        results: {
          tool: { name: 'fake' },
          tests: [
            { name: 'plain', status: 'passed' },
            { name: `test_${secret}`, status: 'failed', message: `said ${secret}`, trace: `at ${secret}.py` },
          ],
        },
      }),
    );
    files.write(`/logs/verifier/${secret}.json`, '{"broken');
    files.write(`/tests/${secret}.py`, 'altered');
    files.write('/logs/verifier/reward.json', JSON.stringify({ reward: 0, [secret]: 0.5 }));
    return 1;
  },
  processes: [`python ${secret}.py`],
  changes: [{ kind: 'A', path: `/root/${secret}` }],
};

interface Graded {
  readonly id: string;
  readonly result: GradeResult;
  readonly said: string;
  readonly recorded: readonly RecordEvent[];
  readonly attempts: Attempts;
}

async function gradeAs(
  protocol: Partial<AttemptProtocol> | undefined,
  options: FakeOptions = engineOptions,
  official = false,
  more: Partial<AttemptRecord> = {},
): Promise<Graded> {
  const { store } = used;
  const made = record({
    ...{ state: 'grading', task: { name: task.name, path: task.dir, digest: 'sha256:0' }, ...more },
    ...(protocol ? { protocol: { ...exampleProtocol, ...protocol } } : {}),
  });
  await store.create(made);
  const workspace = path.join(used.dir, 'workspace');
  await mkdir(workspace);
  await writeFile(path.join(workspace, 'ok.txt'), 'ok');
  const file = path.join(used.dir, 'submission.tar.gz');
  await writeFile(file, gzipSync(await pack(walkFolder(workspace, { prefix: 'app' }))));
  const said: string[] = [];
  const recorded: RecordEvent[] = [];
  const say = (message: string): void => void said.push(message);
  const log = { trace: say, debug: say, info: say, warn: say, error: say };
  const connect = async () => new FakeEngine(options);
  const context = {
    ...{ store, hostEnv: {}, connect, log, prepared: new PreparedContainers({ connect, log }) },
    recorders: {
      append: (_: string, event: RecordEvent) => void recorded.push(event),
      peek: () => undefined,
    },
  } as unknown as AttemptContext;
  const source: AttemptSource = { kind: 'attempt', id: made.id, path: file, skipped: [], marks: [] };
  let result: GradeResult | undefined;
  const emit = (event: GradeEvent): void => {
    say(JSON.stringify(event));
    if (event.kind === 'finished') result = event.result;
  };
  const how = { official, snapshot: undefined, options: { live: true } };
  const { signal } = new AbortController();
  await gradeSource(context, task, source, how, emit, signal, async (grade) => {
    if (official) await store.move(made.id, 'submitted', { also: grade });
    else await store.update(made.id, (old) => ({ ...old, ...grade }));
  });
  if (!result) throw new Error('There is no result.');
  const attempts = new Attempts({ store, connect: context.connect, log: nullLog, hostEnv: {} });
  return { id: made.id, result, said: said.join('\n'), recorded, attempts };
}

/** All files of an attempt, by their path in its folder. */
async function filesOf(id: string): Promise<ReadonlyMap<string, string>> {
  const dir = used.store.dirOf(id);
  const names = await readdir(dir, { recursive: true, withFileTypes: true });
  const files = names
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));
  return new Map(
    await Promise.all(
      files.map(
        async (file): Promise<[string, string]> => [path.relative(dir, file), await readFile(file, 'utf8')],
      ),
    ),
  );
}

test.each<[Tier, number, boolean]>([
  ['counts', 0, false],
  ['names', 2, true],
  ['messages', 2, true],
])(
  '%s: nothing else is told, logged or on disk before the end; all of it is afterwards',
  async (tier, tests, named) => {
    const { id, result, said, recorded, attempts } = await gradeAs({ tier });
    const { store } = used;
    expect(result).toMatchObject({
      tier,
      verdict: 'unresolved',
      counts: { reported: 2, passed: 1, failed: 1 },
    });
    expect(result.tests).toHaveLength(tests);
    expect(said.includes(secret)).toBe(named);
    // Below the tier, not even what names the tests shows.
    for (const word of [`at ${secret}`, `running ${secret}`, `${secret}.json`, `${secret}.py`])
      expect(said).not.toContain(word);
    expect(said.includes(`said ${secret}`)).toBe(tier === 'messages');
    expect(recorded).toMatchObject([{ kind: 'graded', revealed: { tier, passed: 1, total: 2 } }]);

    const dir = store.dirOf(id);
    const sealed = path.join(dir, 'sealed');
    expect((await stat(sealed)).mode & 0o777).toBe(0o700);
    const open = [...(await filesOf(id))].filter(([name]) => !name.startsWith('sealed/'));
    expect(open.map(([name]) => name).sort()).toEqual(['attempt.json', 'grades/1/grade.json']);
    expect(open.some(([, text]) => text.includes(secret))).toBe(named);
    expect(await readGrade(result.dir)).toEqual(result);
    expect((await filesOf(id)).get('sealed/1/verifier/test-stdout.txt')).toContain(secret);

    await store.move(id, 'running');
    await attempts.giveUp(id);
    expect(await readdir(sealed)).toEqual([]);
    const whole = await readGrade(result.dir);
    expect(whole.tests[1]).toMatchObject({ message: `said ${secret}`, trace: `at ${secret}.py` });
    expect(whole).not.toHaveProperty('tier');
    const files = await filesOf(id);
    expect(files.get('grades/1/verifier/test-stdout.txt')).toContain(secret);
    expect(JSON.parse(files.get('grades/1/grade.json') ?? '').dir).toBe(result.dir);
  },
);

test.each([
  ['of practice', undefined, {}],
  ['of a measured attempt that shows all', { tier: 'full' }, {}],
  ['of a measured attempt that is over', { tier: 'counts' }, { state: 'submitted' }],
] as const)('all is shown %s', async (_, protocol, more) => {
  const { id, result, said, recorded } = await gradeAs(protocol, engineOptions, false, more);
  expect(result.tests[1]?.trace).toBe(`at ${secret}.py`);
  // The log of the engine, too.
  expect(said).toContain('Made container');
  expect(recorded).toMatchObject([{ revealed: { tier: 'full' } }]);
  expect([...(await filesOf(id)).keys()]).toContain('grades/1/verifier/test-stdout.txt');
});

test('the official grade is told when the attempt is over with it, and then whole', async () => {
  const { id, result, said, recorded } = await gradeAs({ tier: 'counts' }, engineOptions, true);
  expect(result.tests[1]?.trace).toBe(`at ${secret}.py`);
  // Cancelled before it ended, nothing would have been submitted.
  expect(said.split('\n').slice(0, -1).join('\n')).not.toContain(secret);
  expect(recorded).toMatchObject([{ official: true, revealed: { tier: 'full' } }]);
  expect((await filesOf(id)).get('grades/1/verifier/test-stdout.txt')).toContain(secret);
});

test('what the engine says of a grade that could not be made is kept from it too', async () => {
  const { id, result, said } = await gradeAs(
    { tier: 'names' },
    { ...engineOptions, faults: ['build-fails'] },
  );
  expect(result).toMatchObject({
    verdict: 'not graded',
    reason: 'image-build-failed',
    explanation: { text: "The task's image cannot be built." },
  });
  expect(said.split('\n').filter((line) => !line.startsWith('{"kind":"'))).toEqual([]);
  expect((await filesOf(id)).get('sealed/1/log.txt')).toMatch(/Not graded \(image-build-failed\)/);
});

test('an attempt that ended in a crash shows its grades when it is debriefed', async () => {
  const { id, result, attempts } = await gradeAs({ tier: 'counts' });
  await used.store.move(id, 'running');
  await used.store.move(id, 'gave-up');
  expect((await readGrade(result.dir)).tests).toEqual([]);
  // It came between the removal of what was shown and its replacement.
  await mkdir(path.join(used.store.dirOf(id), 'sealed', 'unfinished'));
  const debrief = { ...{ difficulty: 1, estimateMinutes: 2 }, approach: '', deadEnds: '', ambiguities: '' };
  await attempts.debrief(id, { ...debrief, aiUse: '' });
  expect((await readGrade(result.dir)).tests).toHaveLength(2);
});

test('a grade of another attempt at the task is told to one that is under way', async () => {
  const { store } = used;
  const measured = record({ state: 'ready', task: { name: task.name, path: task.dir, digest: 'sha256:0' } });
  await store.create(measured);
  const { id, attempts } = await gradeAs({ tier: 'names' });
  await attempts.note(measured.id, 'so its record is opened');
  const lines = (await filesOf(measured.id)).get('record.jsonl')?.trim().split('\n') ?? [];
  expect(
    lines.map((line) => JSON.parse(line)).filter(({ kind }) => kind === 'revealed-outside'),
  ).toMatchObject([{ what: 'attempt-grade', of: id, tier: 'names' }]);
});

test.each(['grade', 'gradeSnapshot'] as const)('no interim grading: %s is refused at once', async (what) => {
  const { store } = used;
  const made = record({ state: 'ready', protocol: { ...exampleProtocol, interimGrading: false } });
  await store.create(made);
  const connect = () => Promise.reject(new Error('nothing may be asked'));
  const attempts = new Attempts({ store, connect, log: nullLog, hostEnv: {} });
  const { signal } = new AbortController();
  const events =
    what === 'grade'
      ? attempts.grade(made.id, {}, signal)
      : attempts.gradeSnapshot(made.id, 'abc', {}, signal);
  await expect(events.next()).rejects.toThrow(
    `The attempt ${made.id} is not graded before it is submitted: its protocol says so.`,
  );
});

import { readdir, readFile } from 'node:fs/promises';
import { homedir, hostname } from 'node:os';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { exportAttempt } from '#core/attempt/exportAttempt.ts';
import type { RecordEvent } from '#core/attempt/recordEvents.ts';
import { readTrialResult } from '#core/trial/readTrialResult.ts';
import { aProtocol, aTask, type Happening, storeAttempt } from './storedAttempt.ts';
import { randoms, useStore } from './support.ts';

const used = useStore();
const { signal } = new AbortController();
const over = { state: 'submitted' as const };
const file = '/app/main.py';
const edit = (text: string): RecordEvent => ({
  ...{ kind: 'edit', path: file, actor: 'human', version: 1 },
  changes: [[0, 0, text]],
});
const text: RecordEvent = {
  ...{ kind: 'text', path: file, actor: 'external', version: 1, encoding: 'utf8', eol: '\n' },
  text: 'whatever\n',
};

describe('an anonymised export', () => {
  test.each([1, 2, 3, 4, 5, 6])(
    'holds nothing that was planted, whatever holds it (seed %i)',
    async (seed) => {
      const random = randoms(seed);
      const some = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
      const planted = ['zoe77', 'host-77.example', '/home/zoe77', 'Zoë Builder-77', used.dir];
      const free = ['FREE-TEXT-77', 'EXPOSURE-NOTE-77', 'COMPENSATION-77', 'CONSENT-77'];
      const word = (): string => {
        const value = some(planted);
        return some([value, value.toUpperCase(), `x ${value}/y`, `"${value}"`, `\u001b[1m${value}\u001b[0m`]);
      };
      const happening = (): Happening =>
        some<() => Happening>([
          () => ({ kind: 'note', text: `FREE-TEXT-77 ${word()}` }),
          () => ({
            kind: 'command',
            id: `c${random()}`,
            in: 't1',
            actor: 'human',
            command: `echo ${word()}`,
          }),
          () => edit(`${word()}\n`),
          () => ({
            kind: 'file',
            what: 'created',
            path: `/app/${word()}`,
            actor: some(['human', 'external']),
          }),
          () => ({ kind: 'frozen', reason: `FREE-TEXT-77 ${word()}` }),
          () => ({ kind: 'thawed' }),
          () => ({ kind: 'state', state: 'disqualified', reason: `FREE-TEXT-77 ${word()}` }),
          () => ({ kind: 'grade-failed', official: false, reason: `FREE-TEXT-77 ${word()}` }),
          () => ({ kind: 'editor', name: 'VS Code', version: '1', extensions: [`${word()}.ext`] }),
          () => Math.floor(random() * 100_000),
        ])();
      const { id } = await storeAttempt(used.store, await aTask(used.dir), {
        record: {
          state: 'disqualified',
          protocol: aProtocol,
          debrief: {
            ...{ difficulty: 3, estimateMinutes: 60, approach: 'FREE-TEXT-77', deadEnds: word() },
            ...{ ambiguities: word(), aiUse: word() },
          },
          history: [
            { state: 'disqualified', at: '2026-01-02T05:00:00.000Z', reason: `FREE-TEXT-77 ${word()}` },
          ],
        },
        happenings: [
          { kind: 'terminal', id: 't1', cast: 'terminals/t1.cast', cols: 80, rows: 24 },
          text,
          ...Array.from({ length: 60 }, happening),
        ],
        casts: { t1: Array.from({ length: 20 }, (_, at) => [at * 20, 'o', `${word()}\r\n`] as const) },
        files: { 'kept.txt': 'of the workspace' },
        grade: {
          verdict: 'unresolved',
          rewards: { reward: 0 },
          explanation: { text: word(), nextStep: word() },
          verifier: {
            'reward.txt': '0\n',
            'test-stdout.txt': `${word()}\n${word()}`,
            'ctrf.json': JSON.stringify({ results: { tests: [], environment: word() } }),
            'python.json': '{"who": "Zo\\u00eb Builder-77"}',
            'zoe77/zoe77.log': '\0\xff zoe77 \0',
          },
        },
      });
      const dir = path.join(used.dir, 'trial');
      const identity = new Map(
        planted.filter((one) => one !== aProtocol.pseudonym).map((one) => [one, '[x]']),
      );
      await exportAttempt(used.store, id, { dir, anonymised: true, identity }, signal);
      const found = await textsOf(dir);
      expect(found.map(({ name }) => name)).toContain('agent/trajectory.json');
      for (const { name, content } of found)
        for (const value of [...planted, ...free])
          expect([name, `${name}\n${content}`.toLowerCase().includes(value.toLowerCase())]).toEqual([
            name,
            false,
          ]);
      expect(found.map(({ content }) => content).join('')).toContain('"pseudonym": "p1"');
      expect(await readTrialResult(dir)).toMatchObject({ rewards: { reward: 0 } });
    },
  );

  test('holds neither the names of this machine nor its paths', async () => {
    const { id } = await storeAttempt(used.store, await aTask(used.dir), {
      record: over,
      happenings: [{ kind: 'note', text: hostname() }],
      files: {},
      grade: { verifier: { 'test-stdout.txt': `${hostname()} ${used.store.storeDir} ${used.dir}/corpus/x` } },
    });
    const dir = path.join(used.dir, 'trial');
    await exportAttempt(used.store, id, { dir, anonymised: true }, signal);
    // A name of two letters, or one that half of all machines have, tells nothing and is in half of all words.
    const names = [hostname(), homedir()].filter((name) => name.length > 2 && name !== '/root');
    const words = [...names, used.store.storeDir, path.join(used.dir, 'corpus')];
    for (const { name, content } of await textsOf(dir))
      for (const value of words) expect([name, content.includes(value)]).toEqual([name, false]);
  });

  test('keeps notes where that is asked for', async () => {
    const { id } = await storeAttempt(used.store, await aTask(used.dir), {
      record: over,
      happenings: [{ kind: 'note', text: 'kept' }],
      files: {},
    });
    const dir = path.join(used.dir, 'trial');
    await exportAttempt(used.store, id, { dir, anonymised: true, freeText: true }, signal);
    expect(await readFile(path.join(dir, 'agent/trajectory.json'), 'utf8')).toContain('"message": "kept"');
  });
});

/** Every file but those of the workspace. */
async function textsOf(dir: string): Promise<{ name: string; content: string }[]> {
  const files = (await readdir(dir, { recursive: true, withFileTypes: true })).filter((one) => one.isFile());
  const texts = await Promise.all(
    files.map(async (one) => {
      const file = path.join(one.parentPath, one.name);
      return { name: path.relative(dir, file), content: await readFile(file, 'utf8') };
    }),
  );
  return texts.filter(({ name }) => !name.startsWith('artifacts/app'));
}

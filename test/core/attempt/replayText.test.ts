import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { encodeText } from '#core/attempt/encodeText.ts';
import { readRecordLines } from '#core/attempt/readRecordLog.ts';
import type { RecordEvent } from '#core/attempt/recordEvents.ts';
import { RecordLog } from '#core/attempt/recordLog.ts';
import { TextReplay } from '#core/attempt/replayText.ts';
import { nullLog } from '#core/base/log.ts';
import { randoms } from './support.ts';

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(path.join(tmpdir(), 'e2e-swe-replay-'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

const pieces = [
  'a',
  'def f(x):',
  '\n',
  '\t',
  'é',
  '\u0416',
  '\u{1f600}',
  '\ud83d',
  '"',
  '\\',
  '\u2028',
  '\0',
  ' ',
];
const encodings = ['utf8', 'utf8bom', 'utf16le', 'utf16be'];

interface Model {
  text: string;
  eol: '\n' | '\r\n';
  encoding: string;
}

/** Any editing of some files, as events, with the truth after each of them. */
function anyEditing(seed: number) {
  const random = randoms(seed);
  const some = (max: number): number => Math.floor(random() * max);
  const piece = (eol: string): string => (pieces[some(pieces.length)] as string).replace('\n', eol);
  const words = (max: number, eol: string): string =>
    Array.from({ length: some(max) }, () => piece(eol)).join('');
  const files = new Map<string, Model>();
  const steps: { event: RecordEvent; truth: Map<string, Model> }[] = [];
  const write = (event: RecordEvent): void => {
    steps.push({ event, truth: new Map([...files].map(([name, model]) => [name, { ...model }])) });
  };
  const load = (name: string, actor: 'human' | 'external'): void => {
    const eol = random() < 0.3 ? '\r\n' : '\n';
    const model: Model = { text: words(60, eol), eol, encoding: encodings[some(encodings.length)] as string };
    files.set(name, model);
    write({ kind: 'text', path: name, actor, version: 1, ...model });
  };
  load('/app/a.py', 'human');
  for (let i = 0; i < 80; i++) {
    const names = [...files.keys()];
    const name = names[some(names.length)] as string;
    const model = files.get(name) as Model;
    const dice = random();
    if (dice < 0.65) {
      // Places that do not overlap, from the end to the start, as VS Code tells them.
      const places = Array.from({ length: 2 * (1 + some(3)) }, () => some(model.text.length + 1)).sort(
        (a, b) => b - a,
      );
      const changes: [number, number, string][] = [];
      for (let at = 0; at + 1 < places.length; at += 2)
        changes.push([
          places[at + 1] as number,
          (places[at] as number) - (places[at + 1] as number),
          words(6, model.eol),
        ]);
      for (const [offset, length, text] of changes)
        model.text = model.text.slice(0, offset) + text + model.text.slice(offset + length);
      write({ kind: 'edit', path: name, actor: 'human', version: i, changes });
    } else if (dice < 0.7) {
      const eol = model.eol === '\n' ? '\r\n' : '\n';
      model.text = model.text.replace(/\r\n|\n/g, eol);
      model.eol = eol;
      write({ kind: 'edit', path: name, actor: 'human', version: i, changes: [], eol });
    } else if (dice < 0.85) {
      model.encoding = encodings[some(encodings.length)] as string;
      const bytes = encodeText(model.text, model.encoding) as Buffer;
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      write({
        kind: 'saved',
        path: name,
        actor: 'human',
        bytes: bytes.length,
        sha256,
        encoding: model.encoding,
      });
    } else if (dice < 0.9) load(name, 'external');
    else if (dice < 0.94) load(`/app/sub/${some(5)}.txt`, 'human');
    else if (dice < 0.97) {
      const to = `/app/moved/${some(5)}`;
      files.delete(name);
      files.set(to, model);
      write({ kind: 'file', what: 'renamed', path: name, to, actor: 'human' });
    } else if (files.size > 1) {
      files.delete(name);
      write({ kind: 'file', what: 'deleted', path: name, actor: 'human' });
    }
  }
  return steps;
}

test('the record alone rebuilds every edited file, byte for byte, at every moment', async () => {
  for (let seed = 0; seed < 60; seed++) {
    const file = path.join(dir, `${seed}.jsonl`);
    const steps = anyEditing(seed);
    const log = await RecordLog.open(file, { log: nullLog, reserveBytes: 16 });
    for (const { event } of steps) log.append(event);
    await log.close();
    const replay = new TextReplay();
    let at = -1;
    for await (const line of readRecordLines(file)) {
      replay.apply(line);
      const { truth } = steps[at++] ?? {};
      if (!truth) continue;
      expect(replay.paths.toSorted()).toEqual([...truth.keys()].sort());
      for (const [name, { text, encoding }] of truth) {
        const replayed = replay.get(name);
        expect([seed, at, name, replayed?.doubt]).toEqual([seed, at, name, undefined]);
        const bytes = encodeText(replayed?.text ?? '', replayed?.encoding ?? '');
        expect(bytes?.equals(encodeText(text, encoding) as Buffer)).toBe(true);
      }
      if (line.kind === 'saved') expect(replay.get(line.path)?.saved).toBeDefined();
    }
    // Behind the line that opens the record and the one that closes it.
    expect(at).toBe(steps.length + 1);
  }
});

test('a save in an encoding that we cannot write brings its bytes; one that differs is in doubt', () => {
  const replay = new TextReplay();
  const line = { n: 0, utc: '', mono: 0 };
  const text = { kind: 'text', actor: 'human', version: 1, eol: '\n', text: 'テスト' } as const;
  replay.apply({ ...line, ...text, path: '/a', encoding: 'shiftjis' });
  const bytes = Buffer.from('836583588367', 'hex');
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const saved = { kind: 'saved', path: '/a', actor: 'human', bytes: 6, sha256 } as const;
  replay.apply({ ...line, ...saved });
  expect(replay.get('/a')).toMatchObject({
    saved: undefined,
    doubt: expect.stringContaining('not the text'),
  });
  replay.apply({ ...line, ...saved, content: bytes.toString('base64') });
  expect(replay.get('/a')).toMatchObject({ saved: bytes, doubt: undefined });
  replay.apply({ ...line, kind: 'edit', path: '/a', actor: 'human', version: 2, changes: [[9, 1, '']] });
  expect(replay.get('/a')?.doubt).toContain('another text');
  replay.apply({ ...line, kind: 'edit', path: '/unknown', actor: 'human', version: 2, changes: [] });
  expect(replay.get('/unknown')).toBeUndefined();
});

test('folders are moved and removed with what is in them', () => {
  const replay = new TextReplay();
  const line = { n: 0, utc: '', mono: 0 };
  for (const name of ['/app/a/x', '/app/a/b/y', '/app/ab'])
    replay.apply({
      ...line,
      kind: 'text',
      path: name,
      actor: 'human',
      version: 1,
      encoding: 'utf8',
      eol: '\n',
      text: name,
    });
  replay.apply({ ...line, kind: 'file', what: 'renamed', path: '/app/a', to: '/app/c', actor: 'human' });
  expect(replay.paths.toSorted()).toEqual(['/app/ab', '/app/c/b/y', '/app/c/x']);
  replay.apply({ ...line, kind: 'file', what: 'copied', path: '/app/c/b', to: '/app/d', actor: 'human' });
  replay.apply({ ...line, kind: 'file', what: 'deleted', path: '/app/c', actor: 'human' });
  expect(replay.paths.toSorted()).toEqual(['/app/ab', '/app/d/y']);
  expect(replay.get('/app/d/y')?.text).toBe('/app/a/b/y');
});

test.each([
  ['utf8', 'é\n', 'c3a90a'],
  ['utf8bom', 'é', 'efbbbfc3a9'],
  ['utf16le', 'é', 'fffee900'],
  ['utf16be', 'é', 'feff00e9'],
  ['iso88591', 'é\u0080', 'e980'],
  ['windows1252', 'é€', 'e980'],
  ['koi8r', 'Ж', 'f6'],
  ['iso88591', '€', undefined],
  ['windows1252', 'Ж', undefined],
  ['gbk', '中', undefined],
])('%s writes %j as %s', (encoding, text, hex) => {
  expect(encodeText(text, encoding)?.toString('hex')).toBe(hex);
});

import { mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { checkRecord } from '#core/attempt/checkRecord.ts';
import { Recorder, recordFileOf } from '#core/attempt/recorder.ts';
import { nullLog } from '#core/base/log.ts';

let dir: string;
let cast: string;

/** A session with an edited file and a terminal that was flushed twice. */
beforeEach(async () => {
  dir = await mkdtemp(path.join(tmpdir(), 'e2e-swe-check-'));
  const recorder = await Recorder.open(dir, { log: nullLog, reserveBytes: 16 });
  const text = { kind: 'text', path: '/app/a.py', actor: 'external', version: 1, encoding: 'utf8' } as const;
  recorder.append({ ...text, eol: '\n', text: 'one' });
  recorder.append({ kind: 'edit', path: '/app/a.py', actor: 'human', version: 2, changes: [[3, 0, ' two']] });
  const terminal = recorder.openCast({ cols: 80, rows: 24 });
  terminal.cast.output('first\r\n');
  await new Promise((resolve) => setTimeout(resolve, 600));
  terminal.cast.output('second\r\n');
  await terminal.cast.close();
  recorder.append({ kind: 'terminal-closed', id: terminal.id, exitCode: 0, omitted: 0 });
  await recorder.close();
  cast = path.join(dir, `terminals/${terminal.id}.cast`);
});
afterEach(() => rm(dir, { recursive: true, force: true }));

test('a whole record is whole; an end of a terminal that a crash left without a hash is said', async () => {
  expect(await checkRecord(dir)).toEqual({ lines: 8, terminals: 1, faults: [], notes: [] });
  await writeFile(cast, '[9, "o", "more"]\n', { flag: 'a' });
  const { faults, notes } = await checkRecord(dir);
  expect([faults, notes.map(({ what }) => what)]).toEqual([
    [],
    ['The record has no hash of its last 17 bytes.'],
  ]);
});

test('damage to a terminal shows, and where', async () => {
  const whole = await readFile(cast);
  const faults = async () => (await checkRecord(dir)).faults.map(({ what }) => what);
  await writeFile(cast, whole.toString().replace('second', 'forged'));
  expect(await faults()).toEqual([
    expect.stringMatching(/^It was changed between its bytes \d\d+ and \d+\.$/),
  ]);
  await writeFile(cast, whole.toString().replace('first', 'worst'));
  expect(await faults()).toEqual([expect.stringMatching(/^It was changed between its bytes 0 and \d+\.$/)]);
  await writeFile(cast, whole);
  await truncate(cast, whole.length - 3);
  expect(await faults()).toEqual([`It ends at ${whole.length - 3} bytes, and had ${whole.length}.`]);
  await rm(cast);
  expect(await faults()).toEqual(['It is gone.']);
});

test('damage to the record shows, and a text that its saves do not prove', async () => {
  const file = recordFileOf(dir);
  const whole = await readFile(file, 'utf8');
  await writeFile(file, whole.replace('" two"', '" zwo"'));
  expect((await checkRecord(dir)).faults).toMatchObject([
    { where: expect.stringMatching(/^record\.jsonl:\d$/) },
  ]);
  await writeFile(file, whole.slice(0, -5));
  expect(await checkRecord(dir)).toMatchObject({
    faults: [],
    notes: [{ what: expect.stringMatching(/torn/) }],
  });
  await writeFile(file, whole);
  const recorder = await Recorder.open(dir, { log: nullLog, reserveBytes: 16 });
  recorder.append({ kind: 'saved', path: '/app/a.py', actor: 'human', bytes: 3, sha256: 'of another text' });
  await recorder.close();
  expect((await checkRecord(dir)).faults).toMatchObject([{ where: '/app/a.py' }]);
});

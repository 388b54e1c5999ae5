import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AttemptStore } from '#core/attempt/attemptStore.ts';
import { Attempts } from '#core/attempt/attempts.ts';
import type { OpenAttempt } from '#core/attempt/types.ts';
import { UserError } from '#core/base/errors.ts';
import { writeReport } from '../fixtures/tasks/makeTask.ts';
import { sh } from './attemptSupport.ts';
import { canRunDaemon, SecondDaemon, tinyImage } from './secondDaemon.ts';
import { kept, Lab, rules } from './support.ts';

const [mount, umount] = ['mount', 'umount'];
const passing = writeReport({ first: 'passed', second: 'passed' }, 1);
const tiny = { environment: `docker_image = "${tinyImage}"\nallow_internet = false`, dockerfile: null };

describe.skipIf(!canRunDaemon)('a full disk', () => {
  let daemon: SecondDaemon;
  let lab: Lab;
  let big: string;
  /** A store on a disk of 6 MB. */
  let small: string;
  beforeAll(async () => {
    daemon = await SecondDaemon.start({ sizeMb: 64 });
    lab = await Lab.open(daemon.address);
    big = await lab.workspace();
    await writeFile(path.join(big, 'big'), randomBytes(70_000_000));
    small = path.join(lab.dir, 'small');
    await mkdir(small);
    execFileSync(mount, ['-t', 'tmpfs', '-o', 'size=6m', 'tmpfs', small]);
    await lab.grade(await lab.task(tiny), { kind: 'empty' });
  });
  afterAll(async () => {
    if (small) spawnSync(umount, ['-l', small]);
    try {
      await lab?.dispose();
    } finally {
      await daemon?.dispose();
    }
  });

  test('of the engine, by the submission that is copied in: named, and free again', async () => {
    const task = await lab.task(tiny);
    const result = await lab.grade(task, { kind: 'folder', path: big });
    expect(result).toMatchObject({ verdict: 'not graded', reason: 'disk-full' });
    expect(result.explanation).toMatchObject({
      cause: 'engine',
      text: expect.stringContaining("The engine's disk is full"),
      nextStep: expect.stringContaining('Free some space'),
    });
    expect(daemon.containers()).toEqual([]);
    expect((await lab.gradeFolder(task)).verdict).toBe('resolved');
  });

  test('of the engine, before a container is made', async () => {
    const fill = path.join(daemon.root, 'fill');
    spawnSync('dd', ['if=/dev/zero', `of=${fill}`, 'bs=1M']);
    try {
      const result = await lab.grade(await lab.task(tiny), { kind: 'empty' });
      expect(result).toMatchObject({ verdict: 'not graded', reason: 'disk-full' });
    } finally {
      spawnSync('rm', [fill]);
    }
    expect(daemon.containers()).toEqual([]);
  });

  test("of the engine, by the tests themselves: the submission's outcome, not the engine's", async () => {
    const fills = `#!/bin/bash\nhead -c 500M /dev/zero > /fill\n${passing}echo the end\n`;
    const result = await lab.grade(await lab.task({ ...tiny, testScript: fills }), { kind: 'empty' });
    expect(result).toMatchObject({ verdict: 'not graded', explanation: { cause: 'unknown' } });
    expect(['reward-missing', 'reward-unreadable']).toContain(result.reason);
    const frees = `#!/bin/bash\nhead -c 500M /dev/zero > /fill; rm /fill\n${passing}`;
    expect(await lab.grade(await lab.task({ ...tiny, testScript: frees }), { kind: 'empty' })).toMatchObject({
      verdict: 'resolved',
    });
    expect(daemon.containers()).toEqual([]);
  });

  test('of the grades, by the submission that is kept', async () => {
    const result = await lab.grade(await lab.task(tiny), { kind: 'folder', path: big }, { storeDir: small });
    expect(result).toMatchObject({ verdict: 'not graded', reason: 'disk-full' });
    expect(result.explanation?.text).toContain('The disk that holds the grades');
    expect(readdirSync(result.dir)).toEqual(['grade.json']);
    expect(daemon.containers()).toEqual([]);
  });

  test('of the grades, by what the tests wrote: graded all the same, with a mark', async () => {
    const floods = `#!/bin/bash\nhead -c 20M /dev/zero > /logs/verifier/a.bin; echo told; ${passing}`;
    const result = await lab.grade(
      await lab.task({ ...tiny, testScript: floods }),
      { kind: 'empty' },
      { storeDir: small },
    );
    expect(result).toMatchObject({ verdict: 'resolved', reward: 1 });
    expect(rules(result)).toContain('result-not-kept');
    expect(existsSync(path.join(result.dir, 'verifier/a.bin'))).toBe(false);
    expect(kept(result, 'test-stdout.txt')).toBe('told\n');
  });

  test('of the grades, with no room for the grade itself: the verdict is told, with a warning', async () => {
    const task = await lab.task(tiny);
    const store = path.join(small, 'again');
    lab.messages.length = 0;
    const result = await lab.grade(task, { kind: 'empty' }, { storeDir: store }, undefined, (event) => {
      if (event.kind === 'phase' && event.phase === 'remove')
        spawnSync('dd', ['if=/dev/zero', `of=${path.join(small, 'fill')}`, 'bs=64k']);
    });
    expect(result.verdict).toBe('unresolved');
    expect(lab.messages.join('\n')).toMatch(/The grade is not kept: The disk that holds ".*" is full\./);
    expect(readdirSync(result.dir)).not.toContain('grade.json');
    expect(daemon.containers()).toEqual([]);
  });
});

describe.skipIf(!canRunDaemon)('a full disk of the attempts', () => {
  let lab: Lab;
  let store: AttemptStore;
  let attempts: Attempts;
  let open: OpenAttempt;
  let id: string;
  const never = new AbortController().signal;

  beforeAll(async () => {
    lab = await Lab.open();
    const disk = path.join(lab.dir, 'disk');
    await mkdir(disk);
    // Of it 8 MB are the record's reserve.
    execFileSync(mount, ['-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', disk]);
    store = new AttemptStore(disk);
    const connect = () => Promise.resolve(lab.engine);
    // That there is little room from the first is told, and the work stays frozen: here it is gone at once.
    const freeBytes = () => Promise.resolve(3e9);
    attempts = new Attempts({ store, connect, log: lab.log, hostEnv: {}, freeBytes });
    for await (const event of attempts.start(await lab.task(), {}, never))
      if (event.kind === 'ready') id = event.attempt.id;
    open = await attempts.open(id, never);
  });
  afterAll(async () => {
    await open?.close();
    for (const attempt of (await store?.list()) ?? []) await attempts.delete(attempt.id);
    if (store) spawnSync(umount, ['-l', store.storeDir]);
    await lab?.dispose();
  });

  const grade = async (): Promise<string | undefined> => {
    let verdict: string | undefined;
    for await (const event of attempts.grade(id, {}, never)) {
      if (event.kind !== 'finished') continue;
      verdict = event.result.verdict;
      const { reference } = event.result.evidence.image ?? {};
      if (reference) lab.owns(reference);
    }
    return verdict;
  };
  /** One sentence; the builder works on, and nothing that is half is left. */
  const expectFull = async (grading: Promise<unknown>): Promise<void> => {
    const error = await grading.catch((failure: unknown) => failure);
    expect(error).toBeInstanceOf(UserError);
    expect((error as UserError).message).toMatch(/^The disk that holds .* is full\.$/);
    expect((error as UserError).nextStep).toContain('Free some space');
    expect((await open.container.details()).paused).toBe(false);
    expect(readdirSync(path.join(store.dirOf(id), 'submissions'))).toEqual(before.submissions);
    expect((await attempts.snapshots(id).list()).heads.map((head) => head.id)).toEqual(before.snapshots);
  };
  let before: { submissions: string[]; snapshots: string[] };
  const look = async (): Promise<void> => {
    before = {
      submissions: readdirSync(path.join(store.dirOf(id), 'submissions')),
      snapshots: (await attempts.snapshots(id).list()).heads.map((head) => head.id),
    };
  };

  test('by what a grade takes, or a snapshot: said in a sentence, the work goes on, nothing half is left', async () => {
    expect(await grade()).toBe('unresolved');
    await look();
    await sh(open.container, 'head -c 20000000 /dev/urandom >/app/big');
    await expectFull(grade());
    expect(await store.read(id)).toMatchObject({ state: 'running' });
    await expectFull(attempts.snapshot(id, never));
    await sh(open.container, 'rm /app/big; echo ok >/app/ok.txt');
    expect(await grade()).toBe('resolved');
    expect(await store.read(id)).toMatchObject({ state: 'running', grades: [{}, {}] });
  });

  test('by something else, to the last byte: the same, and it is graded when there is room', async () => {
    await look();
    const fill = path.join(store.storeDir, 'fill');
    spawnSync('dd', ['if=/dev/zero', `of=${fill}`, 'bs=4k']);
    await expectFull(grade());
    spawnSync('rm', [fill]);
    expect(await grade()).toBe('resolved');
  });
});

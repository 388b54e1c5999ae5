import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { writeReport } from '../fixtures/tasks/makeTask.ts';
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

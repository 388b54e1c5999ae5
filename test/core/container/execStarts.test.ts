import { mkdir, readdir, rm, rmdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeEach, expect, test, vi } from 'vitest';
import type { StartingExec } from '#core/container/execStarts.ts';

const folder = path.join(tmpdir(), `e2e-swe-freezing-${process.getuid?.()}`);
let container = '';
let made = 0;

beforeEach(() => {
  container = `container-${process.pid}-${++made}`;
});

/** The module as another process has it: with nothing but the files in common. */
async function otherProcess(): Promise<typeof import('#core/container/execStarts.ts')> {
  vi.resetModules();
  return import('#core/container/execStarts.ts');
}

const exec = (id: string, pid: () => number): StartingExec => ({
  id,
  inspect: async () => ({ Running: pid() > 0, ExitCode: null, Pid: pid() }),
});

const markers = async (): Promise<string[]> =>
  (await readdir(folder).catch(() => [])).filter((name) => name.startsWith(container));

test('while one process is about to freeze a container, another one starts nothing in it', async () => {
  const [freezer, starter] = [await otherProcess(), await otherProcess()];
  const steps: string[] = [];
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const listing = vi.fn(async () => []);
  const frozen = freezer.freezeApart(container, listing, async () => {
    steps.push('freezing');
    await held;
    steps.push('frozen');
  });
  await expect.poll(() => steps).toEqual(['freezing']);
  const started = starter.startExec(
    container,
    exec('late', () => 0),
    async () => steps.push('started'),
  );
  const elsewhere = await starter.startExec(
    'other',
    exec('other', () => 0),
    async () => 'at once',
  );
  await delay(100);
  expect([elsewhere, ...steps]).toEqual(['at once', 'freezing']);
  release();
  await Promise.all([frozen, started]);
  expect(steps).toEqual(['freezing', 'frozen', 'started']);
  expect(await markers()).toEqual([]);
});

test('what another process made before the marker is waited for', async () => {
  const freezer = await otherProcess();
  let pid = 0;
  const steps: string[] = [];
  const frozen = freezer.freezeApart(
    container,
    async () => [exec('early', () => pid)],
    async () => {
      steps.push('frozen');
    },
  );
  await delay(100);
  expect(steps).toEqual([]);
  expect(await markers()).toHaveLength(1);
  pid = 77;
  await frozen;
  expect(steps).toEqual(['frozen']);
});

test('the marker of a process that was killed holds nobody up; a freeze that fails leaves none', async () => {
  const one = await otherProcess();
  await expect(
    one.freezeApart(
      container,
      async () => [],
      () => Promise.reject(new Error('no engine')),
    ),
  ).rejects.toThrow('no engine');
  expect(await markers()).toEqual([]);
  const { currentOwner, formatOwner } = await import('#core/container/labels.ts');
  await mkdir(folder, { recursive: true });
  const dead = path.join(folder, `${container}.1.left`);
  await writeFile(dead, formatOwner({ ...currentOwner(), startTime: '1' }));
  await one.startExec(
    container,
    exec('next', () => 0),
    async () => undefined,
  );
  expect(await markers()).toEqual([]);
  // Of a container that nobody enters any more: any freeze takes it away.
  const forgotten = path.join(folder, `gone-${container}.1.left`);
  await mkdir(folder, { recursive: true });
  await writeFile(forgotten, formatOwner({ ...currentOwner(), startTime: '1' }));
  await one.freezeApart(
    `${container}-other`,
    async () => [],
    async () => undefined,
  );
  expect(await readdir(folder).catch(() => [])).not.toContain(path.basename(forgotten));
  await rm(dead, { force: true });
  await rmdir(folder).catch(() => undefined);
});

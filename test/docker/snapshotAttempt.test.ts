import { createReadStream } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createGunzip } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AttemptStore } from '#core/attempt/attemptStore.ts';
import { Attempts } from '#core/attempt/attempts.ts';
import type { OpenAttempt } from '#core/attempt/types.ts';
import { walkFolder } from '#core/container/folderTar.ts';
import { readTar, writeTar } from '#core/container/tarStream.ts';
import type { GradeEvent, GradeResult } from '#core/grading/types.ts';
import { SnapshotView } from '#core/snapshot/view.ts';
import { contentsOf, entriesOf, randomTree, restored } from '../core/snapshot/trees.ts';
import { makeHostileTree } from '../fixtures/container/hostileTree.ts';
import { drain, sh, testScript, traces } from './attemptSupport.ts';
import { docker, ensureCli, Lab, rules, runCli, waitFor } from './support.ts';

const never = new AbortController().signal;

let lab: Lab;
let store: AttemptStore;
let attempts: Attempts;
let id: string;
let open: OpenAttempt;

beforeAll(async () => {
  lab = await Lab.open();
  store = new AttemptStore(path.join(lab.dir, 'store'));
  attempts = new Attempts({
    store,
    connect: () => Promise.resolve(lab.engine),
    log: lab.log,
    hostEnv: {},
  });
  id = await idOf(attempts.start(await lab.task({ testScript }), {}, never));
  open = await attempts.open(id, never);
  const hostile = await mkdtemp(path.join(lab.dir, 'hostile'));
  await makeHostileTree(hostile);
  await open.container.putArchive('/', writeTar(walkFolder(hostile, { prefix: 'app' })));
  await open.container.putArchive('/', writeTar(entriesOf(randomTree(31))));
  await sh(open.container, 'echo no >/app/ok.txt; echo cp ok.txt built.txt >/app/setup.sh; sleep 0.1');
});

afterAll(async () => {
  await open.close();
  for (const { id } of await store.list()) await attempts.delete(id);
  for (const image of docker(['images', '--format', '{{.Repository}}:{{.Tag}}', 'e2e-swe/shell-task']).split(
    '\n',
  ))
    if (image) lab.owns(image);
  await lab.dispose();
});

async function idOf(events: AsyncIterable<{ kind: string; attempt?: { id: string } }>): Promise<string> {
  let found = '';
  for await (const event of events) if (event.kind === 'ready') found = event.attempt?.id ?? '';
  return found;
}

async function resultOf(events: AsyncIterable<GradeEvent>): Promise<GradeResult> {
  for await (const event of events) if (event.kind === 'finished') return event.result;
  throw new Error('no result');
}

const treeNow = async (of = id): Promise<string> => (await attempts.snapshot(of, never)).tree;
const snapshots = async (of = id) => (await attempts.snapshots(of).list()).heads;

describe('snapshots of an attempt', () => {
  test('one of the moment of each grade, which equals its submission; both ways of taking agree', async () => {
    const periodic = await open.takeSnapshot('save');
    expect(periodic).toMatchObject({ isNew: true, head: { source: 'container', unstable: [] } });
    const result = await resultOf(attempts.grade(id, {}, never));
    expect(result).toMatchObject({ verdict: 'unresolved', marks: [] });
    const { grades } = await store.read(id);
    const head = await attempts.snapshots(id).head(grades[0]?.snapshot ?? '');
    expect(head).toMatchObject({ reason: 'grade', source: 'engine', tree: periodic?.head.tree });
    const file = path.join(store.dirOf(id), 'submissions', `${result.evidence.submission?.sha256}.tar.gz`);
    const submission = await contentsOf(readTar(createReadStream(file).pipe(createGunzip())));
    expect(await restored(attempts.snapshots(id), head)).toEqual(submission);
    // The one before it is the periodic one: nothing had changed.
    expect((await snapshots()).map(({ reason }) => reason)).toEqual(['save', 'grade']);
  });

  test('periodic ones follow work, and none is begun in a frozen workspace', async () => {
    const before = (await snapshots()).length;
    await sh(open.container, 'echo work >/app/worked');
    open.recorder?.append({ kind: 'file', what: 'created', path: '/app/worked', actor: 'human' });
    await waitFor('a snapshot', async () => (await snapshots()).length > before);
    expect((await snapshots()).at(-1)).toMatchObject({ reason: 'save', source: 'container' });
    let checked = 0;
    for await (const { kind } of attempts.grade(id, {}, never)) {
      if (kind !== 'phase' || (await store.read(id)).state !== 'grading') continue;
      expect(await open.takeSnapshot('command')).toBeUndefined();
      checked++;
    }
    expect(checked).toBeGreaterThan(0);
    const second = await attempts.open(id, never);
    expect(await second.takeSnapshot('command')).toBeUndefined();
    await second.close();
    await sh(open.container, 'rm /app/worked');
  });

  test('a tool inside that lies about files is marked', async () => {
    await sh(
      open.container,
      `cd /app; echo kept >hidden.txt; touch -d 2020-01-01 hidden.txt .
mv /usr/bin/find /usr/bin/find.real
printf '#!/bin/sh\\nr=$1; shift; exec /usr/bin/find.real "$r" ! -name hidden.txt "$@"\\n' >/usr/bin/find; chmod 755 /usr/bin/find`,
    );
    const { marks } = await resultOf(attempts.grade(id, {}, never));
    await sh(open.container, 'mv /usr/bin/find.real /usr/bin/find; rm /app/hidden.txt');
    expect(marks.filter(({ rule }) => rule === 'snapshot-mismatch')).toEqual([
      {
        rule: 'snapshot-mismatch',
        message: "The container's own tools show /app/hidden.txt otherwise than the engine does.",
      },
    ]);
    const { marks: honest } = await resultOf(attempts.grade(id, {}, never));
    expect(honest).toEqual([]);
  });

  test('resets softly and hard, each undone by a hard reset', async () => {
    const before = await attempts.snapshot(id, never);
    await sh(
      open.container,
      'cd /app; echo changed >ok.txt; rm -r d; mkdir new; echo n >new/n; echo o >/logs/artifacts/o',
    );
    const worked = await treeNow();
    const undoSoft = await attempts.reset(id, before.id, 'soft', never);
    expect(undoSoft).toMatchObject({ reason: 'reset', source: 'engine', tree: worked });
    const view = await SnapshotView.open(attempts.snapshots(id), await attempts.snapshot(id, never));
    expect((await view.readFile('/app/ok.txt')).toString()).toBe('no\n');
    expect((await view.readFile('/app/new/n')).toString()).toBe('n\n');
    expect(view.isFolder('/app/d/d/d')).toBe(true);
    const undoHard = await attempts.reset(id, before.id, 'hard', never);
    expect(await treeNow()).toBe(before.tree);
    await attempts.reset(id, undoHard.id, 'hard', never);
    expect(await treeNow()).toBe(undoHard.tree);
    await attempts.reset(id, undoSoft.id, 'hard', never);
    expect(await treeNow()).toBe(worked);
    await attempts.reset(id, before.id, 'hard', never);
    // The session goes on over the same channel.
    expect((await open.files.read('/app/ok.txt')).toString()).toBe('no\n');
  });

  test('does not touch the workspace for a snapshot that lacks or lost content', async () => {
    await sh(open.container, 'echo precious >/app/precious');
    const head = await attempts.snapshot(id, never);
    const entry = (await attempts.snapshots(id).entries(head)).find(({ name }) => name === 'app/precious');
    const file = attempts.snapshots(id).blobs.placeOf(entry?.sha256 ?? '', false);
    await writeFile(file, 'spoilt!');
    const now = (await snapshots()).length;
    await expect(attempts.reset(id, head.id, 'hard', never)).rejects.toThrow('is damaged');
    await expect(idOf(attempts.fork(id, head.id, never))).rejects.toThrow('is damaged');
    await expect(attempts.reset(id, 'nonesuch', 'hard', never)).rejects.toThrow('There is no snapshot');
    expect(await sh(open.container, 'cat /app/precious')).toBe('precious\n');
    expect(await snapshots()).toHaveLength(now);
    expect(await store.list()).toHaveLength(1);
    await writeFile(file, 'precious\n');
  });

  test('is forked at a snapshot into an attempt of its own, and leaves nothing when that is cancelled', async () => {
    await sh(open.container, 'echo ok >/app/ok.txt');
    const head = await attempts.snapshot(id, never);
    await sh(open.container, 'echo no >/app/ok.txt');
    const fork = await idOf(attempts.fork(id, head.id, never));
    expect(await store.read(fork)).toMatchObject({
      state: 'ready',
      mode: 'channel',
      grades: [],
      forkedFrom: { attempt: id, snapshot: head.id },
    });
    expect((await attempts.snapshots(id).head(head.id)).isPinned).toBe(true);
    expect(await treeNow(fork)).toBe(head.tree);
    expect(await resultOf(attempts.grade(fork, {}, never))).toMatchObject({ verdict: 'resolved', marks: [] });
    expect(await sh(open.container, 'cat /app/ok.txt')).toBe('no\n');
    const stop = new AbortController();
    const events = attempts.fork(id, undefined, stop.signal);
    let made = '';
    await expect(
      (async () => {
        for await (const event of events) {
          if (event.kind === 'preparing') made = event.attempt.id;
          if (event.kind === 'phase') stop.abort();
        }
      })(),
    ).rejects.toThrow();
    expect(await traces({ id: made })).toEqual([]);
    expect(store.find(made)).toBeUndefined();
    expect((await snapshots()).at(-1)).toMatchObject({ reason: 'fork', source: 'engine' });
  });

  test('is graded as it was, beside the work and after the end', async () => {
    await sh(open.container, 'echo ok >/app/ok.txt; sleep 0.1');
    const head = (await open.takeSnapshot('command'))?.head;
    await sh(open.container, 'echo no >/app/ok.txt');
    const past = await resultOf(attempts.gradeSnapshot(id, head?.id ?? '', {}, never));
    expect(past.verdict).toBe('resolved');
    expect(rules(past)).toEqual(['snapshot-by-container']);
    expect((await store.read(id)).grades.at(-1)).toMatchObject({ snapshot: head?.id, official: false });
    expect(await sh(open.container, 'cat /app/ok.txt')).toBe('no\n');
  });

  test('the command line does all of it', async () => {
    ensureCli();
    await open.close();
    const cli = (...args: string[]) => runCli(['attempt', ...args], { E2E_SWE_HOME: store.storeDir });
    const first = await cli('snapshot', id);
    expect(first).toMatchObject({ code: 0 });
    const fork = await cli('fork', id, first.stdout.trim());
    expect(fork.stderr).toContain(`begins as ${id} was in ${first.stdout.trim()}.`);
    const same = (await cli('snapshot', fork.stdout.trim())).stdout.trim();
    expect(await cli('diff', fork.stdout.trim(), same, same)).toEqual({ code: 0, stdout: '', stderr: '' });
    await cli(
      'exec',
      id,
      '--',
      'sh',
      '-c',
      'mv /app/setup.sh "/app/set\tup.sh"; chmod 600 /app/ok.txt; echo n >/app/n',
    );
    const second = (await cli('snapshot', id)).stdout.trim();
    const diff = await cli('diff', id, first.stdout.trim(), second);
    expect(diff).toEqual({
      code: 1,
      stdout: 'A  /app/n\nM  /app/ok.txt  (mode)\nR  /app/setup.sh -> /app/set\\x09up.sh\n',
      stderr: '',
    });
    expect((await cli('reset', id, first.stdout.trim())).stderr).toContain('Say --yes to do it.');
    const undo = await cli('reset', id, first.stdout.trim(), '--hard', '--yes');
    expect(undo.stderr).toBe(`To undo it: e2e-swe attempt reset ${id} ${undo.stdout.trim()} --hard --yes\n`);
    const third = (await cli('snapshot', id)).stdout.trim();
    expect(await cli('diff', id, first.stdout.trim(), third)).toMatchObject({ code: 0, stdout: '' });
    const graded = await cli('grade', id, '--snapshot', second, '--json');
    expect(JSON.parse(graded.stdout)).toMatchObject({ verdict: 'unresolved', marks: [] });
    const listed = await cli('snapshots', id, '--verify', '--json');
    expect(listed.code).toBe(0);
    const { snapshots, damage } = JSON.parse(listed.stdout);
    expect(damage).toEqual([]);
    expect(snapshots.map((head: { id: string }) => head.id)).toContain(third);
    await rm(path.join(store.dirOf(id), 'snapshots', `${third}.json`));
    await writeFile(path.join(store.dirOf(id), 'snapshots', `${third}.json`), '{');
    expect((await cli('snapshots', id)).stderr).toContain(`snapshots/${third}.json is torn or no JSON.`);
    await drain(attempts.submit(id, never));
    const { submission } = await store.read(id);
    expect((await attempts.snapshots(id).head(submission?.snapshot ?? '')).reason).toBe('submit');
  });
});

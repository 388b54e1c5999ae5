import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { connectEngine } from '#core/container/connect.ts';
import type { ContainerEngine, ContainerHandle } from '#core/container/engine.ts';
import { walkFolder } from '#core/container/folderTar.ts';
import { FsChannel } from '#core/container/fsChannel.ts';
import { readTar, writeTar } from '#core/container/tarStream.ts';
import { archivesOf, movedTo, readSubmission, submissionFromArchives } from '#core/grading/submission.ts';
import { restoreSnapshot } from '#core/snapshot/restore.ts';
import { SnapshotStore } from '#core/snapshot/store.ts';
import { ChannelTaker } from '#core/snapshot/takeFromChannel.ts';
import type { SnapshotHead } from '#core/snapshot/types.ts';
import { contentsOf, entriesOf, planted, randomTree, restored, takeTar } from '../core/snapshot/trees.ts';
import { makeHostileTree } from '../fixtures/container/hostileTree.ts';

const base = 'debian:bookworm-slim';
const busyboxImage = 'e2e-swe-test-snapshots-busybox';
const busyboxDockerfile = `FROM ${base}
RUN apt-get update && apt-get install -y --no-install-recommends busybox-static && mkdir /bb && busybox --install -s /bb
ENV PATH=/bb
`;
const roots = ['/app', '/logs/artifacts'];
const never = new AbortController().signal;

let engine: ContainerEngine;
let dir: string;
const made: ContainerHandle[] = [];

beforeAll(async () => {
  engine = await connectEngine({ env: process.env });
  dir = await mkdtemp(path.join(tmpdir(), 'e2e-swe-snapshots-'));
  await engine.buildImage({
    tag: busyboxImage,
    context: writeTar(
      entriesOf([planted('Dockerfile', 'file', { content: Buffer.from(busyboxDockerfile) })]),
    ),
    dockerfile: 'Dockerfile',
    labels: {},
    buildKit: false,
    onProgress: () => undefined,
  });
});

afterAll(async () => {
  await Promise.all(made.map((container) => container.remove()));
  const remove = spawn('docker', ['image', 'rm', '-f', busyboxImage], { stdio: 'ignore' });
  await once(remove, 'exit');
  engine.close();
  await rm(dir, { recursive: true, force: true });
});

describe.each([
  ['GNU find', base],
  ['busybox', busyboxImage],
])('snapshots of a container over %s', (_, image) => {
  let container: ContainerHandle;
  let files: FsChannel;
  let store: SnapshotStore;
  let taker: ChannelTaker;

  beforeAll(async () => {
    container = await engine.createContainer({
      name: `e2e-swe-snapshots-${process.pid}-${made.length}`,
      image,
      command: ['sleep', '900'],
      labels: {},
      network: 'none',
      cpus: null,
      memoryMb: null,
      pidsLimit: 500,
      init: true,
    });
    made.push(container);
    await container.start();
    files = new FsChannel(container, { user: '0' });
  });

  afterAll(() => files.close());

  beforeEach(async () => {
    await sh('rm -rf /app /logs; mkdir /app');
    store = new SnapshotStore(await mkdtemp(path.join(dir, 'store')));
    taker = new ChannelTaker(store, files, { roots });
  });

  const sh = async (script: string): Promise<string> => {
    const { stdout, stderr, exitCode } = await container.exec({ command: ['sh', '-c', script], user: '0' });
    if (exitCode !== 0) throw new Error(`${script}: ${exitCode} ${stderr}`);
    return stdout.toString('latin1');
  };
  const submission = async (): Promise<Record<string, unknown>[]> => {
    const folder = await mkdtemp(path.join(dir, 'submission'));
    const taken = await submissionFromArchives(archivesOf(container, roots, never), {
      roots,
      dir: folder,
      signal: never,
    });
    return contentsOf(readSubmission(taken));
  };
  const take = async (): Promise<SnapshotHead> => (await taker.take('activity')).head;

  it('equals the submission entry for entry, and put back gives it again: 12 random trees', async () => {
    for (let seed = 100; seed < 112; seed++) {
      const tree = randomTree(seed, { special: true });
      await sh('rm -rf /app');
      await container.putArchive('/', writeTar(entriesOf(tree)));
      const wanted = await submission();
      const head = await take();
      expect(
        head.skipped.filter(({ what }) => what !== 'special'),
        `seed ${seed}`,
      ).toEqual([]);
      expect(await restored(store, head), `seed ${seed}`).toEqual(wanted);
      const { head: exact } = await takeEngine(store, container);
      expect(exact.tree).toBe(head.tree);
      // Into an empty folder, as a reset does it.
      await sh('rm -rf /app');
      await container.putArchive('/', writeTar(restoreSnapshot(store, head)));
      expect(await submission(), `seed ${seed}`).toEqual(wanted);
    }
  }, 240_000);

  it('equals the submission of the hostile tree, and names what no submission has', async () => {
    const folder = await mkdtemp(path.join(dir, 'hostile'));
    const { socket } = await makeHostileTree(folder);
    expect(socket).toBe(true);
    await container.putArchive('/', writeTar(walkFolder(folder, { prefix: 'app' })));
    await sh(
      'mkfifo /app/pipe; mkdir -p /logs/artifacts; echo x >/logs/artifacts/x; ln /app/a /app/ro/again',
    );
    // A socket made inside, where sockets come from.
    if (image === base)
      await sh(
        'perl -MSocket -e \'socket(S, PF_UNIX, SOCK_STREAM, 0); bind(S, pack_sockaddr_un("/app/sock")) or die\'',
      );
    const head = await take();
    expect(await restored(store, head)).toEqual(await submission());
    expect(head.skipped).toEqual([
      { name: 'app/pipe', what: 'special', detail: 'fifo' },
      ...(image === base ? [{ name: 'app/sock', what: 'special', detail: 'socket' }] : []),
    ]);
    expect((await takeEngine(store, container)).head.tree).toBe(head.tree);
  });

  it('follows every kind of change, reading only what changed', async () => {
    await container.putArchive('/', writeTar(entriesOf(randomTree(55))));
    await sh(`cd /app; mkdir -p build/obj; i=0; while [ $i -lt 50 ]; do echo $i >build/obj/$i.o; i=$((i+1)); done
printf one >grows; printf two >same; ln build/obj/1.o linked; sleep 0.1`);
    await take();
    const changes = [
      'printf more >>/app/grows',
      // The same size and mtime: only the ctime tells.
      'touch -r /app/same /tmp/ref; printf owt >/app/same; touch -r /tmp/ref /app/same',
      'chmod 600 /app/same',
      'chown 12:34 /app/same',
      'mv /app/build/obj/7.o "/app/moved\n"',
      'rm -r /app/build/obj/8.o; mkdir /app/build/obj/8.o',
      'ln -sf elsewhere /app/link; ln -sfn other /app/link',
      'rm /app/linked; echo apart >/app/linked',
      'ln /app/grows /app/second; ln /app/grows /app/a-first',
      'rm -r /app/build',
      'rm /app/grows /app/second',
      'mkdir -p /logs/artifacts; echo new >/logs/artifacts/n',
    ];
    for (const change of changes) {
      await sh(change);
      const head = await take();
      expect(await restored(store, head), change).toEqual(await submission());
    }
    // What changed within a second of being read is read again.
    await sh('sleep 1.1');
    await take();
    // Another process: what is known of the files is on disk.
    const reads: string[][] = [];
    const counting = new Proxy(files, {
      get(target, key) {
        if (key === 'readTogether' || key === 'read')
          return (paths: string | string[], options: object) => {
            reads.push([paths].flat());
            return key === 'read'
              ? target.read(String(paths), options)
              : target.readTogether([paths].flat(), options);
          };
        const value: unknown = Reflect.get(target, key);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    await sh('echo x >/app/one; sleep 0.1');
    const again = new ChannelTaker(new SnapshotStore(store.dir), counting, { roots });
    const { head } = await again.take('activity');
    expect(await restored(store, head)).toEqual(await submission());
    expect(reads.flat().length).toBeLessThan(4);
    expect(reads.flat()).toContain('/app/one');
    expect((await again.take('activity')).isNew).toBe(false);
  });

  it('lists one bad file and goes on: too large, or growing all the time', async () => {
    await sh('cd /app; echo ok >ok; head -c 3000000 /dev/zero >big; ln big also; echo z >z');
    const small = new ChannelTaker(store, files, { roots, maxFileBytes: 1 << 20 });
    const { head } = await small.take('save');
    const what = { what: 'too-large', detail: '3000000 bytes, more than 1048576' };
    expect(head.skipped).toEqual([
      { name: 'app/also', ...what },
      { name: 'app/big', ...what },
    ]);
    expect((await store.entries(head)).map(({ name }) => name)).toEqual(['app', 'app/ok', 'app/z']);
    await expect(restored(store, head)).rejects.toThrow('for viewing only: it lacks "app/also" and 1 more');
    await sh('rm /app/big /app/also');
    const { stream } = await container.interact({
      command: ['sh', '-c', 'while [ ! -e /tmp/stop ]; do echo line >>/app/log; done'],
      tty: false,
      user: '0',
    });
    try {
      await sh('until [ -s /app/log ]; do sleep 0.05; done');
      // On a busy machine the writer may stand still for the moment of a read.
      let moving = (await small.take('save')).head;
      for (let more = 50; more > 0 && moving.unstable.length === 0; more--)
        moving = (await small.take('save')).head;
      expect(moving.unstable).toEqual(['app/log']);
      expect(moving.skipped).toEqual([]);
      const kept = (await restored(store, moving)).find(({ name }) => name === 'app/log');
      expect(String(kept?.content)).toMatch(/^(line\n)+/);
    } finally {
      await sh('touch /tmp/stop');
      stream.destroy();
    }
  });

  it('keeps nothing of one that is cancelled or whose container does not answer', async () => {
    await sh('cd /app; echo ok >ok');
    await take();
    await sh('echo changed >/app/ok');
    const stop = new AbortController();
    const taking = taker.take('save', stop.signal);
    stop.abort();
    await expect(taking).rejects.toThrow('Cancelled');
    expect((await store.list()).heads).toHaveLength(1);
    const closed = new FsChannel(container, { user: '0' });
    await closed.close();
    await expect(new ChannelTaker(store, closed, { roots }).take('save')).rejects.toThrow(
      'channel is closed',
    );
    expect(await restored(store, await take())).toEqual(await submission());
  });
});

async function takeEngine(store: SnapshotStore, container: ContainerHandle): Promise<{ head: SnapshotHead }> {
  async function* entries() {
    for await (const { root, archive } of archivesOf(container, roots, never))
      yield* movedTo(root, readTar(archive));
  }
  return { head: await takeTar(store, entries()) };
}

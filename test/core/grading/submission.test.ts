import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';

import { existsSync, readFileSync } from 'node:fs';
import { chmod, link, mkdir, readdir, symlink, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { encodeHeader } from '#core/container/tarHeader.ts';
import type { NotGradedError } from '#core/grading/reasons.ts';
import {
  checkSource,
  emptySubmission,
  type Submission,
  submissionFromArchives,
  submissionFromFolder,
  submissionFromTar,
  type TakeOptions,
} from '#core/grading/submission.ts';
import { makeDeepPath } from '../../fixtures/container/hostileTree.ts';
import {
  endOfArchive,
  fileEntry,
  header,
  pack,
  pax,
  plainEntry,
  rawBlock,
  tempFolder,
  unpack,
} from '../container/tarTools.ts';

let temp: Awaited<ReturnType<typeof tempFolder>>;
let out: string;
beforeEach(async () => {
  temp = await tempFolder();
  out = path.join(temp.dir, 'out');
  await mkdir(out);
});
afterEach(() => temp.remove());

function take(part: Partial<TakeOptions> = {}): TakeOptions {
  return { roots: ['/srv/app', '/logs/artifacts'], dir: out, signal: new AbortController().signal, ...part };
}

const tenGb = 10 * 1024 ** 3;

function names(submission: Submission): string[] {
  return submission.entries.map(({ name, linkName }) => (linkName ? `${name} -> ${linkName}` : name));
}

async function reasonOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => undefined,
    (failure: unknown) => failure as NotGradedError,
  );
  return `${error?.reason}: ${error?.message}`;
}

async function workspace(): Promise<string> {
  const folder = path.join(temp.dir, 'ws');
  await mkdir(path.join(folder, 'src'), { recursive: true });
  await writeFile(path.join(folder, 'setup.sh'), 'echo\n');
  await chmod(path.join(folder, 'setup.sh'), 0o755);
  await writeFile(path.join(folder, 'src/a'), 'a');
  await symlink('a', path.join(folder, 'src/l'));
  return folder;
}

const expected = ['srv/app', 'srv/app/setup.sh', 'srv/app/src', 'srv/app/src/a', 'srv/app/src/l -> a'];

describe('a folder', () => {
  test('becomes the workdir; the file that is kept is what the digest is of', async () => {
    const submission = await submissionFromFolder(await workspace(), take());
    expect(names(submission)).toEqual(expected);
    const tar = gunzipSync(readFileSync(submission.file));
    expect(createHash('sha256').update(tar).digest('hex')).toBe(submission.sha256);
    expect(tar.length).toBe(submission.bytes);
    expect((await unpack(tar)).map(({ header }) => header.name)).toEqual(
      submission.entries.map(({ name }) => name),
    );
    expect(await readdir(out)).toEqual(['submission.tar.gz']);
  });

  test('is the same submission when it is taken again', async () => {
    const folder = await workspace();
    const [first, second] = [
      await submissionFromFolder(folder, take()),
      await submissionFromFolder(folder, take()),
    ];
    expect(first.sha256).toBe(second.sha256);
  });

  test('that cannot be read is no grade, with the file named', async () => {
    const folder = await workspace();
    const remove = makeDeepPath(folder);
    try {
      expect(await reasonOf(submissionFromFolder(folder, take()))).toMatch(
        /^submission-unreadable: .*too long/,
      );
      expect(await readdir(out)).toEqual([]);
    } finally {
      remove();
    }
  });

  test('with a sparse file of 100 GB is refused by name before it is read, with one of 5 GB after a tenth of it', async () => {
    const folder = await workspace();
    await truncate(path.join(folder, 'src/a'), 100 * 1024 ** 3);
    const since = Date.now();
    expect(await reasonOf(submissionFromFolder(folder, take()))).toMatch(
      /^submission-refused: "srv\/app\/src\/a" is refused: .*larger than 32 GiB/,
    );
    expect(Date.now() - since).toBeLessThan(2_000);
    await truncate(path.join(folder, 'src/a'), 5 * 1024 ** 3);
    expect(await reasonOf(submissionFromFolder(folder, take()))).toMatch(
      /^submission-refused: "srv\/app\/src\/a" is refused: with it the submission has 512 MB .*sparse file/,
    );
    expect(await readdir(out)).toEqual([]);
  }, 60_000);

  test('with names of 255 bytes, no UTF-8 among them, and one path of almost 4096', async () => {
    const folder = await workspace();
    const long = Buffer.concat([Buffer.from(`${folder}/`), Buffer.alloc(255, 0xe9)]);
    await writeFile(long, 'x');
    const deep = Array(15).fill('d'.repeat(255)).join('/');
    execFileSync(
      'bash',
      ['-c', 'for i in $(seq 15); do mkdir "$0"; cd "$0"; done; echo x > f', 'd'.repeat(255)],
      {
        cwd: folder,
      },
    );
    const submission = await submissionFromFolder(folder, take());
    expect(names(submission)).toEqual(
      expect.arrayContaining([`srv/app/${'\xe9'.repeat(255)}`, `srv/app/${deep}/f`]),
    );
  });

  test('a taking that is cancelled leaves nothing', async () => {
    const folder = await workspace();
    await writeFile(path.join(folder, 'big'), Buffer.alloc(1 << 22));
    await expect(submissionFromFolder(folder, take({ signal: AbortSignal.abort() }))).rejects.toThrow(
      /abort|Cancel/i,
    );
    expect(await readdir(out)).toEqual([]);
  });
});

describe('what an artifact excludes', () => {
  const exclude = (name: string): boolean => /\.log$|\/cache(?:\/|$)/.test(name);

  test('is not taken from a folder; another name of it is a file of its own', async () => {
    const folder = await workspace();
    await mkdir(path.join(folder, 'cache'));
    await writeFile(path.join(folder, 'cache/big'), 'x');
    await writeFile(path.join(folder, 'a.log'), 'log');
    await link(path.join(folder, 'a.log'), path.join(folder, 'b.txt'));
    const submission = await submissionFromFolder(folder, take({ exclude }));
    expect(names(submission)).toEqual([expected[0], 'srv/app/b.txt', ...expected.slice(1)]);
    expect(submission.entries.find(({ name }) => name.endsWith('b.txt'))).toMatchObject({
      type: 'file',
      size: 3,
    });
  });

  test('is not taken from a tar; another name of it is skipped and told, not refused', async () => {
    const file = path.join(temp.dir, 'x.tar');
    const other = plainEntry({ type: 'hardlink', name: 'b.txt', linkName: 'a.log' });
    await writeFile(file, await pack([fileEntry('a.log', 'log'), other, fileEntry('c', '')]));
    const submission = await submissionFromTar(file, take({ exclude }));
    expect(names(submission)).toEqual(['srv/app/c']);
    expect(submission.skipped).toEqual(['srv/app/b.txt (another name of an entry that was left out)']);
  });
});

describe('a tar', () => {
  async function tarOf(args: readonly string[], cwd: string): Promise<string> {
    const file = path.join(temp.dir, 'x.tar');
    execFileSync('tar', ['-cf', file, '--sort=name', ...args], { cwd });
    return file;
  }

  test.each<[layout: string, args: (folder: string) => readonly string[]]>([
    ['of the content with "./"', () => ['.']],
    ['of the content by name', () => ['setup.sh', 'src']],
    [
      'with the last part in front',
      (folder) => ['-C', path.dirname(folder), '--transform', 's,^ws,app,rhS', 'ws'],
    ],
    [
      'with the whole path in front',
      (folder) => ['-C', path.dirname(folder), '--transform', 's,^ws,srv/app,rhS', 'ws'],
    ],
    [
      'with an absolute path in front',
      (folder) => ['-P', '-C', path.dirname(folder), '--transform', 's,^ws,/srv/app,rhS', 'ws'],
    ],
  ])('%s', async (_, args) => {
    const folder = await workspace();
    const submission = await submissionFromTar(await tarOf(args(folder), folder), take());
    expect(names(submission).filter((name) => name !== 'srv/app')).toEqual(expected.slice(1));
  });

  test('of a workspace whose only folder is called like the workdir', async () => {
    const folder = path.join(temp.dir, 'ws');
    await mkdir(path.join(folder, 'app'), { recursive: true });
    await writeFile(path.join(folder, 'app/main.py'), '');
    const submission = await submissionFromTar(await tarOf(['.'], folder), take());
    expect(names(submission)).toContain('srv/app/app/main.py');
  });

  test('a tar of one folder of another name is taken as it is, and says so', async () => {
    const folder = await workspace();
    const parent = path.basename(folder);
    const wrapped = await submissionFromTar(
      await tarOf(['-C', path.dirname(folder), parent], folder),
      take(),
    );
    expect(wrapped.wrappedIn).toBe(parent);
    expect(names(wrapped)).toContain(`srv/app/${parent}/setup.sh`);
    expect((await submissionFromTar(await tarOf(['.'], folder), take())).wrappedIn).toBeUndefined();
  });

  test('gzipped, by its content and not by its name; hard links are kept', async () => {
    const file = path.join(temp.dir, 'odd.name');
    const entries = [fileEntry('a', 'x'), plainEntry({ type: 'hardlink', name: 'b', linkName: 'a' })];
    await writeFile(file, gzipSync(await pack(entries)));
    expect(names(await submissionFromTar(file, take()))).toEqual(['srv/app/a', 'srv/app/b -> srv/app/a']);
  });

  test('our own kept submission is one', async () => {
    const first = await submissionFromFolder(await workspace(), take());
    const again = path.join(temp.dir, 'again');
    await mkdir(again);
    const second = await submissionFromTar(first.file, take({ dir: again }));
    expect(second.sha256).toBe(first.sha256);
  });

  test('of nothing is an empty workdir', async () => {
    const file = path.join(temp.dir, 'empty.tar');
    await writeFile(file, await pack([]));
    expect(names(await submissionFromTar(file, take()))).toEqual(['srv/app']);
    await writeFile(file, await pack([plainEntry({ type: 'directory', name: '.' })]));
    expect(names(await submissionFromTar(file, take()))).toEqual(['srv/app']);
  });

  test.each<[what: string, content: () => Promise<Buffer>]>([
    ['is no tar', () => Promise.resolve(Buffer.from('hello'.repeat(300)))],
    ['is empty', () => Promise.resolve(Buffer.alloc(0))],
    ['is cut', async () => (await pack([fileEntry('a', 'x'.repeat(3000))])).subarray(0, 2000)],
    [
      'is cut between two entries',
      async () => (await pack([fileEntry('a', ''), fileEntry('b', '')])).subarray(0, 512),
    ],
    ['is a cut gzip', async () => gzipSync(await pack([fileEntry('a', 'x'.repeat(3000))])).subarray(0, 50)],
    ['is a damaged gzip', async () => Buffer.concat([Buffer.from([0x1f, 0x8b, 8, 0]), Buffer.alloc(100, 9)])],
  ])('that %s cannot be read', async (_, content) => {
    const file = path.join(temp.dir, 'bad.tar');
    await writeFile(file, await content());
    expect(await reasonOf(submissionFromTar(file, take()))).toMatch(/^submission-unreadable: "bad.tar"/);
    expect(existsSync(path.join(out, 'submission.tar.gz'))).toBe(false);
  });

  test('with a sparse file says what to do', async () => {
    await truncate(path.join(await workspace(), 'setup.sh'), 1 << 24);
    const file = await tarOf(['-S', '.'], path.join(temp.dir, 'ws'));
    expect(await reasonOf(submissionFromTar(file, take()))).toMatch(/without -S/);
  });

  test.each<[where: string, start: readonly Buffer[]]>([
    ['in its header', [encodeHeader(header({ name: 'zeros.bin', size: tenGb }))]],
    [
      'in a PAX record alone',
      [pax('x', { size: String(tenGb), path: 'zeros.bin' }), rawBlock({ name: 'short' })],
    ],
  ])(
    'that expands to 10 GB, told %s, is refused by name, without filling a disk',
    async (_, start) => {
      const file = path.join(temp.dir, 'bomb.tar.gz');
      // A gzip may have any number of parts.
      const zeros = gzipSync(Buffer.alloc(1 << 24));
      const parts = Array<Buffer>(tenGb / (1 << 24)).fill(zeros);
      const end = gzipSync(endOfArchive);
      await writeFile(file, Buffer.concat([gzipSync(Buffer.concat(start)), ...parts, end]));
      expect(await reasonOf(submissionFromTar(file, take()))).toMatch(
        /^submission-refused: "zeros.bin" is refused: .*that pack into 10 MB, as those of a decompression bomb/,
      );
      expect(await readdir(out)).toEqual([]);
    },
    60_000,
  );

  test('with hostile members is refused', async () => {
    const file = path.join(temp.dir, 'x.tar');
    await writeFile(file, await pack([fileEntry('ok', ''), fileEntry('../../etc/passwd', 'x')]));
    expect(await reasonOf(submissionFromTar(file, take()))).toMatch(/^submission-refused: .*passwd/);
    await writeFile(file, await pack([fileEntry('ok', ''), fileEntry('/etc/passwd', 'x')]));
    expect(await reasonOf(submissionFromTar(file, take()))).toMatch(/^submission-refused: .*absolute/);
  });
});

test('an empty one is the workdir alone, the same each time', async () => {
  const [first, second] = [await emptySubmission(take()), await emptySubmission(take())];
  expect(names(first)).toEqual(['srv/app']);
  expect(first.sha256).toBe(second.sha256);
});

test("an engine's archives are joined under their roots", async () => {
  async function* of(data: Buffer): AsyncGenerator<Buffer> {
    yield data;
  }
  const app = await pack([
    plainEntry({ type: 'directory', name: 'app' }),
    fileEntry('app/a', 'x'),
    plainEntry({ type: 'hardlink', name: 'app/b', linkName: 'app/a' }),
    plainEntry({ type: 'symlink', name: 'app/l', linkName: 'app/a' }),
  ]);
  const artifacts = await pack([
    plainEntry({ type: 'directory', name: 'artifacts' }),
    fileEntry('artifacts/r', 'y'),
  ]);
  const submission = await submissionFromArchives(
    [
      { root: '/srv/app', archive: of(app) },
      { root: '/logs/artifacts', archive: of(artifacts) },
    ],
    take(),
  );
  expect(names(submission)).toEqual([
    'srv/app',
    'srv/app/a',
    'srv/app/b -> srv/app/a',
    'srv/app/l -> app/a',
    'logs/artifacts',
    'logs/artifacts/r',
  ]);
});

test('a tar that is a FIFO or a device is refused before anything waits for it', async () => {
  const fifo = path.join(temp.dir, 'fifo');
  execFileSync('mkfifo', [fifo]);
  for (const file of [fifo, '/dev/zero'])
    await expect(checkSource({ kind: 'tar', path: file })).rejects.toThrow(/neither a folder nor a file/);
});

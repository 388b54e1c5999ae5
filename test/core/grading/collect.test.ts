import { mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ContainerHandle } from '#core/container/engine.ts';
import type { TarHeader } from '#core/container/tarHeader.ts';
import { bodyOf, readTar, type TarEntry, writeTar } from '#core/container/tarStream.ts';
import { alteredTests } from '#core/grading/alteredTests.ts';
import { collectVerifierFolder } from '#core/grading/collect.ts';
import { tempFolder } from '../container/tarTools.ts';

let temp: Awaited<ReturnType<typeof tempFolder>>;
beforeEach(async () => {
  temp = await tempFolder();
});
afterEach(() => temp.remove());
const signal = new AbortController().signal;
const huge = 8 * 1024 ** 4;

/** A file by its content or, where nobody may read it, by its size alone; a link by its target. */
type Node = string | { readonly size: number } | { readonly link: string };

function entry(name: string, node: Node): TarEntry {
  const isLink = typeof node === 'object' && 'link' in node;
  const data = Buffer.from(typeof node === 'string' ? node : '');
  const header: TarHeader = {
    ...{ name, type: isLink ? 'symlink' : 'file', mode: 0o644, uid: 0, gid: 0, mtime: 0 },
    size: typeof node === 'object' && 'size' in node ? node.size : data.length,
    ...{ linkName: isLink ? node.link : '', devMajor: 0, devMinor: 0, flag: '' },
  };
  return { header, body: typeof node === 'object' && 'size' in node ? endless(node.size) : bodyOf(data) };
}

const chunk = Buffer.alloc(1024 ** 2);
async function* endless(size: number): AsyncGenerator<Buffer> {
  for (let sent = 0; sent < size; sent += chunk.length) yield chunk.subarray(0, size - sent);
}

/** What an engine gives that has only archives: whoever goes past a file gets all of it sent. */
function holding(nodes: Readonly<Record<string, Node>>): ContainerHandle & { readonly asked: string[] } {
  const asked: string[] = [];
  const readFolder = async (folder: string): Promise<AsyncIterable<TarEntry> | undefined> => {
    asked.push(folder);
    const found = Object.entries(nodes).filter(([name]) => name === folder || name.startsWith(`${folder}/`));
    const cut = folder.lastIndexOf('/') + 1;
    return found.length === 0
      ? undefined
      : readTar(writeTar(found.map(([name, node]) => entry(name.slice(cut), node))));
  };
  return { readFolder, asked } as unknown as ContainerHandle & { readonly asked: string[] };
}

describe('what /logs/verifier holds', () => {
  test('is read whatever lies in front of it: a file without end is not waited for', async () => {
    const container = holding({
      '/logs/verifier/a.bin': { size: huge },
      '/logs/verifier/b.json': '{}',
      '/logs/verifier/ctrf.json': '{"results":{}}',
      '/logs/verifier/reward.txt': '1\n',
      '/logs/verifier/test-stdout.txt': 'the end\n',
    });
    const { files, marks, outputTail } = await collectVerifierFolder(container, temp.dir, signal);
    expect([...files.keys()].sort()).toEqual(['ctrf.json', 'reward.txt']);
    expect(files.get('reward.txt')?.toString()).toBe('1\n');
    expect(outputTail).toBe('the end\n');
    expect(marks.map(({ rule }) => rule)).toEqual(['result-too-large', 'results-not-listed']);
    expect(marks[1]?.message).toContain('a.bin');
    expect(container.asked).toContain('/logs/verifier/reward.json');
  });

  test('of a reward without end the beginning is read, which is no reward', async () => {
    const container = holding({
      '/logs/verifier/reward.json': { size: huge },
      '/logs/verifier/reward.txt': '1',
    });
    const { files, marks } = await collectVerifierFolder(container, temp.dir, signal);
    expect(files.get('reward.txt')?.toString()).toBe('1');
    expect(files.get('reward.json')?.length).toBeGreaterThan(1000);
    expect(marks.map(({ rule }) => rule)).toEqual(['result-too-large', 'results-not-listed']);
  });

  test('nothing, where the tests removed it', async () => {
    const { files, marks } = await collectVerifierFolder(holding({}), temp.dir, signal);
    expect([files.size, marks.map(({ rule }) => rule)]).toEqual([0, ['verifier-folder-gone']]);
  });

  test('a report that is too large is told, and is still known to be there', async () => {
    const size = 300 * 1024 ** 2;
    const container = holding({ '/logs/verifier/ctrf-a.json': { size }, '/logs/verifier/reward.txt': '1' });
    const { files, marks } = await collectVerifierFolder(container, temp.dir, signal);
    expect([...files.keys()].sort()).toEqual(['ctrf-a.json', 'reward.txt']);
    expect(marks.map(({ message }) => message)).toEqual([
      `/logs/verifier/ctrf-a.json (${size} bytes, file 1) was not kept.`,
    ]);
  });
});

describe('whether /tests is as it was sent', () => {
  let testsDir: string;
  beforeEach(async () => {
    testsDir = path.join(temp.dir, 'tests');
    await mkdir(path.join(testsDir, 'data'), { recursive: true });
    await writeFile(path.join(testsDir, 'test.sh'), 'exit 0\n');
    await writeFile(path.join(testsDir, 'data/a'), 'data');
    await symlink('data/a', path.join(testsDir, 'link'));
  });
  const asSent = { data: 'data', script: 'exit 0\n', link: { link: 'data/a' } };
  const altered = (nodes: Readonly<Record<string, Node>>) => alteredTests(holding(nodes), testsDir, signal);

  test('new files are fine, others are told', async () => {
    const nodes = {
      '/tests/cache': 'new',
      '/tests/data/a': asSent.data,
      '/tests/link': asSent.link,
      '/tests/test.sh': asSent.script,
    };
    expect(await altered(nodes)).toEqual([]);
    expect(await altered({ ...nodes, '/tests/test.sh': 'exit 1\n', '/tests/link': { link: '/' } })).toEqual([
      '/tests/link (altered)',
      '/tests/test.sh (altered)',
    ]);
    const { '/tests/data/a': _, ...fewer } = nodes;
    expect(await altered(fewer)).toEqual(['/tests/data/a (removed)']);
    expect(await altered({})).toHaveLength(3);
  });

  test('also where it is a link, by one more link, and not for ever', async () => {
    const nodes = {
      '/tests': { link: 'opt/../srv/tests' },
      '/srv/tests': { link: '/real' },
      '/real/data/a': asSent.data,
      '/real/link': asSent.link,
      '/real/test.sh': asSent.script,
    };
    expect(await altered(nodes)).toEqual([]);
    expect(await altered({ ...nodes, '/real/test.sh': 'exit 1\n' })).toEqual(['/tests/test.sh (altered)']);
    expect(await altered({ '/tests': { link: '/tests' } })).toHaveLength(3);
  });

  test('a file without end among them is neither read nor waited for', async () => {
    const nodes = {
      '/tests/0': { size: huge },
      '/tests/data/a': asSent.data,
      '/tests/link': asSent.link,
      '/tests/test.sh': { size: huge },
    };
    expect(await altered(nodes)).toEqual(['/tests/test.sh (altered)']);
  });
});

import { expect, test } from 'vitest';
import { UserError } from '#core/base/errors.ts';
import { nullLog } from '#core/base/log.ts';
import type { TaskEntry } from '#core/task/types.ts';
import { type CorpusFolder, expandHome, listCorpusFolders } from '#vscode/corpora/corpusFolders.ts';
import { TaskIndex } from '#vscode/corpora/taskIndex.ts';
import { makeEntry } from './support/builders.ts';

const folder = (kind: CorpusFolder['kind'], path: string): CorpusFolder => ({
  kind,
  path,
  label: path.slice(1),
});

function indexOf(
  folders: readonly CorpusFolder[],
  tasks: Readonly<Record<string, readonly TaskEntry[] | Error>>,
) {
  const read = async (dir: string): Promise<readonly TaskEntry[]> => {
    const found = tasks[dir] ?? [];
    if (found instanceof Error) throw found;
    return found;
  };
  return new TaskIndex({ reader: { discover: read, find: read }, folders: () => folders, log: nullLog });
}

const summary = (index: TaskIndex) =>
  index.corpora.map(
    (corpus) => `${corpus.kind} ${corpus.path}: ${corpus.entries.map((e) => e.name).join(' ')}`,
  );

test('folders are listed once, the added ones first', () => {
  const folders = listCorpusFolders({
    configured: ['~/mine/', '/ext/tasks'],
    workspace: ['/home/me/repo'],
    bundled: '/ext/tasks',
    home: '/home/me',
  });
  expect(folders.map(({ kind, path, label }) => `${kind} ${path} ${label}`)).toEqual([
    'configured /home/me/mine mine',
    'configured /ext/tasks tasks',
    'workspace /home/me/repo repo',
  ]);
  const bundledIsOpen = {
    configured: [],
    workspace: ['/ext/tasks'],
    bundled: '/ext/tasks',
    home: '/home/me',
  };
  expect(listCorpusFolders(bundledIsOpen).map(({ label }) => label)).toEqual(['Bundled tasks']);
  expect(expandHome('~', '/home/me')).toBe('/home/me');
  expect(expandHome('~other/x', '/home/me')).toBe('~other/x');
});

test('nothing is read before somebody asks', async () => {
  let reads = 0;
  const folders = () => {
    reads++;
    return [];
  };
  const index = new TaskIndex({
    reader: { discover: async () => [], find: async () => [] },
    folders,
    log: nullLog,
  });
  expect([index.state, index.wasRead, reads]).toEqual(['loading', false, 0]);
  await index.ready();
  await index.ready();
  expect([index.state, index.wasRead, reads]).toEqual(['empty', true, 1]);
});

test('a task that two corpora hold is listed once; workspace folders without tasks are dropped', async () => {
  const index = indexOf(
    [folder('workspace', '/repo'), folder('workspace', '/other'), folder('bundled', '/ext/tasks')],
    { '/repo': [makeEntry('/ext/tasks/a'), makeEntry('/repo/b')], '/ext/tasks': [makeEntry('/ext/tasks/a')] },
  );
  await index.refresh();
  expect(summary(index)).toEqual(['workspace /repo: b', 'bundled /ext/tasks: a']);
  expect(index.findByDir('/repo/b')?.name).toBe('b');
});

test('a folder that cannot be read says why', async () => {
  const index = indexOf([folder('configured', '/gone')], {
    '/gone': new UserError('There is no folder /gone.'),
  });
  await index.refresh();
  expect(index.corpora[0]?.failure).toBe('There is no folder /gone.');
  expect(index.state).toBe('ready');
});

test('the newest of two refreshes wins', async () => {
  let release: (entries: readonly TaskEntry[]) => void = () => undefined;
  let calls = 0;
  const discover = (): Promise<readonly TaskEntry[]> =>
    calls++ === 0
      ? new Promise((resolve) => {
          release = resolve;
        })
      : Promise.resolve([makeEntry('/c/new')]);
  const index = new TaskIndex({
    reader: { discover, find: discover },
    folders: () => [folder('configured', '/c')],
    log: nullLog,
  });
  const first = index.refresh();
  const second = index.refresh();
  release([makeEntry('/c/old')]);
  await Promise.all([first, second]);
  expect(summary(index)).toEqual(['configured /c: new']);
});

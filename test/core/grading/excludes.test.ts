import { execFileSync, spawnSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { excludeMatcher } from '#core/grading/excludes.ts';
import { tempFolder } from '../container/tarTools.ts';

const files = [
  'a.log',
  'keep',
  'src/x.log',
  'src/deep/y.logs',
  'node_modules/m/index.js',
  'src/node_modules/n',
  'build/out',
  'src/build',
  'xbuild/z',
  'data[1].csv',
  'data1.csv',
  'star*name',
];

const patterns = [
  '*.log',
  'node_modules',
  'build',
  'src/deep',
  './build',
  'out',
  '*/x.log',
  'data[0-9].csv',
  'data[!0-9].csv',
  'data\\[1\\].csv',
  'star\\*name',
  'k??p',
  'src/*',
  'build/',
  '[z-a]*',
  '[',
  '*',
];

describe.skipIf(!spawnSync('tar', ['--version']).stdout?.includes('GNU tar'))(
  'as the system tar excludes',
  () => {
    test.each(patterns)('%s', async (pattern) => {
      const { dir, remove } = await tempFolder();
      try {
        for (const file of files) {
          await mkdir(path.dirname(path.join(dir, file)), { recursive: true });
          await writeFile(path.join(dir, file), '');
        }
        const archive = execFileSync('tar', ['-c', `--exclude=${pattern}`, '-C', dir, '.']);
        const listed = execFileSync('tar', ['-t', '--quoting-style=literal'], {
          input: archive,
          encoding: 'utf8',
        })
          .split('\n')
          .map((name) => name.replace(/^\.\//, ''));
        const isExcluded = excludeMatcher([{ source: '/app', exclude: [pattern] }]);
        const below = (file: string): string[] =>
          file.split('/').map((_, i, parts) => parts.slice(0, i + 1).join('/'));
        const taken = files.filter((file) => !below(file).some((part) => isExcluded(`app/${part}`)));
        expect(taken).toEqual(files.filter((file) => listed.includes(file)));
      } finally {
        await remove();
      }
    });
  },
);

test('only the artifact that says so loses anything', () => {
  const isExcluded = excludeMatcher([
    { source: '/app/', exclude: ['x'] },
    { source: '/srv/data', exclude: [] },
  ]);
  expect([isExcluded('app/x'), isExcluded('srv/data/x'), isExcluded('apple/x'), isExcluded('app')]).toEqual([
    true,
    false,
    false,
    false,
  ]);
});

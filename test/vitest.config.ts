import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const root = fileURLToPath(new URL('..', import.meta.url));
/** Real engines and browsers: in CI a second try, which is told by name as flaky (scripts/lib/vitestReporter.mjs). */
const retry = process.env.CI ? 1 : 0;
const fakeVscode = fileURLToPath(new URL('fakes/vscode.ts', import.meta.url));

export default defineConfig({
  root,
  test: {
    projects: [
      // No alias here: an accidental `vscode` import in core fails.
      { test: { name: 'core', include: ['test/core/**/*.test.ts'], testTimeout: 30_000 } },
      {
        resolve: { alias: { vscode: fakeVscode } },
        test: { name: 'adapters', include: ['test/adapters/**/*.test.ts'], testTimeout: 30_000 },
      },
      {
        test: {
          name: 'docker',
          include: ['test/docker/**/*.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 240_000,
          fileParallelism: false,
          retry,
        },
      },
      {
        test: {
          name: 'harbor',
          include: ['test/harbor/**/*.test.ts'],
          testTimeout: 180_000,
          hookTimeout: 600_000,
          fileParallelism: false,
          retry,
          maxConcurrency: 5,
        },
      },
      {
        test: {
          name: 'ui',
          include: ['test/ui/**/*.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 240_000,
          fileParallelism: false,
          retry,
        },
      },
    ],
  },
});

import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './paths.mjs';

const SOURCE = join(ROOT, 'test/host');
const TARGET = join(ROOT, 'dist/test-host');

/** The bundled module that VS Code loads as its tests. */
export const HOST_ENTRY = join(TARGET, 'run.cjs');

/** Bundles the extension-host suites (test/host/*.test.ts) and the harness that runs them. */
export async function bundleHostSuite() {
  const { build } = await import('esbuild');
  const suites = existsSync(SOURCE) ? readdirSync(SOURCE).filter((name) => name.endsWith('.test.ts')) : [];
  const name = (file) => file.replace(/\.ts$/, '');
  rmSync(TARGET, { recursive: true, force: true });
  await build({
    absWorkingDir: ROOT,
    entryPoints: [
      { in: join(SOURCE, 'harness/run.ts'), out: 'run' },
      ...suites.map((file) => ({ in: join(SOURCE, file), out: name(file) })),
    ],
    outdir: TARGET,
    outExtension: { '.js': '.cjs' },
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    sourcemap: 'inline',
    external: ['vscode', 'mocha', 'cpu-features'],
    loader: { '.node': 'empty' },
    logLevel: 'warning',
  });
}

import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { bundleHostSuite } from './hostSuite.mjs';
import { npmCommand, npmEnv } from './npm.mjs';
import { sshd } from './otherEngines.mjs';
import { ROOT } from './paths.mjs';
import { registry } from './registry.mjs';
import { failedOne, passedOne, readResults } from './results.mjs';
import { runGroup } from './run.mjs';

const EDITOR = ['engine', 'baseImage', 'chromium', 'editorHost'];

/**
 * The groups of tests, in the order in which they run: what each needs of the machine, whether it needs the build, and
 * how it is run.
 *
 * @typedef {{ env: Record<string, string>, temp: string, desktop: boolean }} Context
 * @type {Record<string, { needs: (context: { desktop: boolean }) => string[], built: boolean,
 *   run: (context: Context) => Promise<import('./results.mjs').Results> }>}
 */
export const GROUPS = {
  check: { needs: () => [], built: false, run: runCheck },
  unit: { needs: () => [], built: false, run: (context) => runVitest('unit', ['core', 'adapters'], context) },
  docker: {
    needs: () => ['engine', 'baseImage', 'registry', 'sshd', 'podman'],
    built: true,
    run: runDocker,
  },
  host: {
    needs: ({ desktop }) => (desktop ? ['engine', 'baseImage'] : EDITOR),
    built: true,
    run: runHostSuite,
  },
  ui: { needs: () => EDITOR, built: true, run: runUi },
  harbor: {
    needs: () => ['engine', 'baseImage'],
    built: false,
    run: (context) => runVitest('harbor', ['harbor'], context),
  },
};

async function runDocker({ env, ...context }) {
  const programs = { E2E_SWE_REGISTRY: registry.find(), E2E_SWE_SSHD: sshd.find() };
  const found = Object.fromEntries(Object.entries(programs).filter(([, program]) => program));
  return runVitest('docker', ['docker'], {
    ...context,
    env: { ...env, ...found },
  });
}

/** Formatting, lint, types and unused code: one test. */
async function runCheck({ env }) {
  const [command, ...first] = npmCommand();
  const { code } = await runGroup(command, [...first, 'run', 'check'], { env: npmEnv(env) });
  return code === 0 ? passedOne() : failedOne('npm run check', 'See its messages above.');
}

/** Bundles the extension and the command line. */
export async function build(env) {
  const { code } = await runGroup(process.execPath, ['esbuild.config.mjs'], { env });
  return code === 0;
}

async function runVitest(group, projects, { env, temp }) {
  const file = join(temp, `${group}.json`);
  const flags = projects.flatMap((project) => ['--project', project]);
  const ending = await runGroup(
    process.execPath,
    [
      join(ROOT, 'node_modules/vitest/vitest.mjs'),
      ...['run', '--config', 'test/vitest.config.ts', ...flags],
      ...['--reporter=default', `--reporter=${join(ROOT, 'scripts/lib/vitestReporter.mjs')}`],
    ],
    { env: { ...env, E2E_SWE_VITEST_RESULTS: file }, stdio: ['ignore', 'inherit', 'inherit'] },
  );
  return readResults(group, file, ending);
}

async function runUi(context) {
  const shots = join(ROOT, 'test-results/screenshots');
  rmSync(shots, { recursive: true, force: true });
  mkdirSync(shots, { recursive: true });
  return runVitest('ui', ['ui'], context);
}

async function runHostSuite({ env, temp, desktop }) {
  try {
    await bundleHostSuite();
  } catch (error) {
    return failedOne('host: bundling the suites', error.message);
  }
  const file = join(temp, 'host.json');
  const args = [join(ROOT, 'scripts/runHost.mjs'), ...(desktop ? ['--desktop'] : [])];
  const ending = await runGroup(process.execPath, args, { env: { ...env, E2E_SWE_HOST_RESULTS: file } });
  return readResults('host', file, ending);
}

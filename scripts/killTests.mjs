// npm run test:kill [-- --only recorder|window]: all points at which recorder and window are killed; npm test runs a tenth.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT } from './lib/paths.mjs';

const { values } = parseArgs({ options: { only: { type: 'string' } } });

const POINTS = { E2E_SWE_KILL_POINTS: '180', E2E_SWE_KILL_WINDOW_POINTS: '20' };
const PARTS = {
  recorder: ['core', 'test/core/attempt/kill.test.ts'],
  window: ['ui', 'test/ui/kill.test.ts'],
};

function run(args) {
  const env = { ...process.env, ...POINTS };
  return spawnSync(process.execPath, args, { cwd: ROOT, env, stdio: 'inherit' }).status ?? 1;
}

let failed = 0;
for (const [name, [project, file]] of Object.entries(PARTS)) {
  if (values.only !== undefined && values.only !== name) continue;
  if (name === 'window') failed ||= run(['esbuild.config.mjs']);
  const vitest = join('node_modules', 'vitest', 'vitest.mjs');
  failed ||= run([vitest, 'run', '--config', 'test/vitest.config.ts', '--project', project, file]);
}
process.exitCode = failed;

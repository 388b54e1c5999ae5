// npm test [-- --yes] [--only check,unit,docker,host,ui] [--desktop]
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { isStopping, onCleanup, onExit, runMain } from './lib/cleanup.mjs';
import { ensureDeps } from './lib/deps.mjs';
import { engineAddress } from './lib/engineApi.mjs';
import { build, GROUPS } from './lib/groups.mjs';
import { checkNothingLeft, engineState, RUN_MARK } from './lib/leftovers.mjs';
import { PlainError, step } from './lib/log.mjs';
import { failedOne, sayGroup, saySummary } from './lib/results.mjs';
import { setUp } from './lib/setup.mjs';

function readArguments() {
  const { values } = parseArgs({
    options: {
      yes: { type: 'boolean', short: 'y' },
      only: { type: 'string' },
      desktop: { type: 'boolean', default: false },
    },
  });
  const names = values.only?.split(',') ?? Object.keys(GROUPS);
  const unknown = names.find((name) => !GROUPS[name]);
  if (unknown)
    throw new PlainError(`There is no group "${unknown}". Groups: ${Object.keys(GROUPS).join(', ')}.`);
  return { ...values, names: Object.keys(GROUPS).filter((name) => names.includes(name)) };
}

/** One folder for all temporary files of the run, with a home for the extension's records in it. */
function makeRun() {
  const temp = mkdtempSync(join(tmpdir(), 'e2e-swe-'));
  // Tests that drop root must reach their folders; nobody else may list them.
  chmodSync(temp, 0o711);
  const remove = () => rmSync(temp, { recursive: true, force: true, maxRetries: 5 });
  onExit(remove);
  onCleanup('temporary files', remove);
  const scratch = join(temp, 't');
  const home = join(temp, 'home');
  for (const folder of [scratch, home]) mkdirSync(folder);
  const mark = `${process.pid}-${Date.now()}`;
  // Without XDG_RUNTIME_DIR the editor's sockets go below the run's own folder; a rootless engine's is there too.
  const { XDG_RUNTIME_DIR: runtime, ...env } = process.env;
  if (runtime && engineAddress().includes(runtime)) env.DOCKER_HOST = engineAddress();
  return { temp, scratch, mark, env: { ...env, TMPDIR: scratch, E2E_SWE_HOME: home, [RUN_MARK]: mark } };
}

async function main() {
  const started = Date.now();
  const { names, yes, desktop } = readArguments();
  await ensureDeps();
  const groups = names.map((name) => ({ name, ...GROUPS[name] }));
  const needs = groups.flatMap((group) => group.needs({ desktop }));
  const { agreed, failed: unmet } = await setUp(needs, { yes, again: 'npm test -- --yes' });
  if (!agreed) return 1;

  const run = makeRun();
  const done = [];
  const record = async (name, work) => {
    step(name);
    const start = Date.now();
    let results;
    try {
      results = await work();
    } catch (error) {
      results = failedOne(`${name}: crashed`, error.message);
    }
    const ms = Date.now() - start;
    sayGroup(name, results, ms);
    done.push({ name, results, ms });
  };

  const before = await engineState();
  // After Ctrl-C nothing is counted, but all of it is removed.
  onCleanup('what the tests left', () => isStopping() && checkNothingLeft({ ...run, before }, 1_000));
  let built;
  for (const group of groups) {
    const missing = group.needs({ desktop }).find((need) => unmet.has(need));
    if (group.built && !missing) built ??= await build(run.env);
    await record(group.name, async () => {
      if (missing) return failedOne(`${group.name}: set-up`, unmet.get(missing));
      if (group.built && !built) return failedOne(`${group.name}: build`, 'The build failed, see above.');
      return group.run({ env: run.env, temp: run.temp, desktop });
    });
  }
  await record('leftovers', () => checkNothingLeft({ ...run, before }));
  return saySummary(done, Date.now() - started);
}

await runMain(main);

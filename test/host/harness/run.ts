import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Mocha from 'mocha';

/** What a host run has to say, read by scripts/lib/results.mjs. */
interface HostResults {
  passed: number;
  failed: { name: string; message: string }[];
  skipped: { name: string; reason: string }[];
}

const TEST_TIMEOUT_MS = 120_000;

/** Runs every bundled suite beside this file in the extension host. VS Code calls it. */
export async function run(): Promise<void> {
  const mocha = new Mocha({
    ui: 'tdd',
    color: process.env.E2E_SWE_HOST_COLOR === '1',
    timeout: TEST_TIMEOUT_MS,
    forbidOnly: Boolean(process.env.CI),
    ...(process.env.E2E_SWE_HOST_GREP ? { grep: process.env.E2E_SWE_HOST_GREP } : {}),
  });
  const suites = readdirSync(__dirname).filter((name) => name.endsWith('.test.cjs'));
  for (const name of suites.sort()) mocha.addFile(join(__dirname, name));

  const results = await runMocha(mocha);
  const file = process.env.E2E_SWE_HOST_RESULTS;
  if (file) writeFileSync(file, JSON.stringify(results));
  if (results.passed + results.failed.length === 0) throw new Error('No test ran.');
  if (results.failed.length > 0) throw new Error(`${results.failed.length} tests failed.`);
}

function runMocha(mocha: Mocha): Promise<HostResults> {
  const results: HostResults = { passed: 0, failed: [], skipped: [] };
  return new Promise((done) => {
    const runner = mocha.run(() => done(results));
    runner.on('pass', () => {
      results.passed += 1;
    });
    runner.on('fail', (test, error: Error) => {
      results.failed.push({ name: test.fullTitle(), message: error.message });
    });
    runner.on('pending', (test) => {
      results.skipped.push({ name: test.fullTitle(), reason: 'marked as skipped in its file' });
    });
  });
}

import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';

const firstMessage = (errors) => errors?.[0]?.message ?? 'failed';

/** Writes what a Vitest run has to say into the file E2E_SWE_VITEST_RESULTS, in the form of results.mjs. */
export default class ResultsReporter {
  onTestRunEnd(modules, unhandledErrors) {
    const results = { passed: 0, failed: [], skipped: [], flaky: [] };
    for (const module of modules) {
      const file = relative(process.cwd(), module.moduleId);
      for (const error of module.errors()) results.failed.push({ name: file, message: error.message });
      for (const suite of module.children.allSuites()) {
        for (const error of suite.errors()) {
          results.failed.push({ name: `${file} > ${suite.fullName}`, message: error.message });
        }
      }
      for (const test of module.children.allTests())
        add(results, `${file} > ${test.fullName}`, test.result(), test.diagnostic()?.flaky);
    }
    for (const error of unhandledErrors)
      results.failed.push({ name: 'unhandled error', message: error.message });
    writeFileSync(process.env.E2E_SWE_VITEST_RESULTS, JSON.stringify(results));
  }
}

function add(results, name, { state, errors, note }, isFlaky) {
  if (state === 'passed') {
    results.passed += 1;
    if (isFlaky) results.flaky.push({ name, message: firstMessage(errors) });
  } else if (state === 'skipped')
    results.skipped.push({ name, reason: note ?? 'marked as skipped in its file' });
  else
    results.failed.push({
      name,
      message: state === 'failed' ? firstMessage(errors) : 'did not run to its end',
    });
}

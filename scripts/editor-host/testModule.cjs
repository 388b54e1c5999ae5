// What the extension host loads as its tests. It runs the real test module, copies the host's console to a file, and
// records that run() finished: `process.exit(0)` inside a test would otherwise look like success.
const { openSync, writeFileSync, writeSync } = require('node:fs');
const { pathToFileURL } = require('node:url');
const { format } = require('node:util');

const {
  E2E_SWE_TESTS_MODULE: module_,
  E2E_SWE_TESTS_OUTPUT: output,
  E2E_SWE_TESTS_RESULT: result,
} = process.env;

// The extension host's console ignores plain assignment. Writes to process.stdout end in console.log, line by line.
const descriptor = openSync(output, 'a');
for (const level of ['log', 'info', 'debug', 'warn', 'error']) {
  const original = console[level];
  const value = (...args) => {
    writeSync(descriptor, `${format(...args)}\n`);
    return original.apply(console, args);
  };
  Object.defineProperty(console, level, { configurable: true, writable: true, value });
}

async function load() {
  try {
    return require(module_);
  } catch (error) {
    if (error?.code !== 'ERR_REQUIRE_ESM' && error?.code !== 'ERR_REQUIRE_ASYNC_MODULE') throw error;
    return import(pathToFileURL(module_).href);
  }
}

exports.run = async () => {
  try {
    const loaded = await load();
    const run = loaded.run ?? loaded.default?.run;
    if (typeof run !== 'function') throw new Error(`${module_} exports no run().`);
    await run();
    writeFileSync(result, JSON.stringify({ ok: true }));
  } catch (error) {
    console.error(error);
    writeFileSync(result, JSON.stringify({ ok: false }));
    throw error;
  }
};

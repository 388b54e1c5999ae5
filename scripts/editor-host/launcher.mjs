#!/usr/bin/env node
// Stands in for the desktop `code` that @vscode/test-electron starts: runs the tests in the extension host of a real
// VS Code server, with headless Chromium as the workbench, and exits with the tests' own result.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onCleanup, runMain } from '../lib/cleanup.mjs';
import { PlainError } from '../lib/log.mjs';
import { CONTEXT, launchBrowser } from './browser.mjs';
import { readOptions } from './launcherOptions.mjs';
import { startServer } from './server.mjs';

const TIMEOUT_MS = Number(process.env.E2E_SWE_HOST_TIMEOUT_MS ?? 600_000);
const TIMED_OUT = 124;
// VS Code tells the result a moment after a host that ended well.
const LATE_RESULT_MS = 10_000;

const log = (text) => console.error(`[editor host] ${text}`);

/** Prints what was added to the file since the last call. */
function printer(file) {
  let printed = 0;
  return () => {
    const bytes = readFileSync(file);
    process.stdout.write(bytes.subarray(printed));
    printed = bytes.length;
  };
}

function readResult(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).ok === true;
  } catch {
    return false;
  }
}

/** The address of a workbench that loads the extension under test and runs the tests. */
function workbenchUrl(server, options) {
  const remote = (path) => `vscode-remote://${server.authority}${encodeURI(resolve(path))}`;
  const payload = [
    ...options.extensions.map((path) => ['extensionDevelopmentPath', remote(path)]),
    ['extensionTestsPath', remote(fileURLToPath(new URL('testModule.cjs', import.meta.url)))],
    ...(options.disableExtensions ? [['disableExtensions', 'true']] : []),
    ['skipWelcome', 'true'],
    ['skipReleaseNotes', 'true'],
  ];
  return server.url(options.folder, `&payload=${encodeURIComponent(JSON.stringify(payload))}`);
}

async function openWorkbench(server, options, end) {
  const browser = await launchBrowser();
  onCleanup('browser', () => browser.close());
  const page = await (await browser.newContext(CONTEXT)).newPage();
  // The two functions that the workbench calls when it runs tests.
  await page.exposeFunction('codeAutomationLog', () => {});
  await page.exposeFunction('codeAutomationExit', (code) => end(code));
  page.on('crash', () => end(1, 'The page of the workbench crashed.'));
  page.on('close', () => end(1, 'The page of the workbench was closed.'));
  await page.goto(workbenchUrl(server, options));
}

async function main() {
  const options = readOptions(process.argv.slice(2));
  if (!options.tests)
    throw new PlainError('This stand-in for `code` only runs tests: --extensionTestsPath is missing.');
  const temp = mkdtempSync(join(tmpdir(), 'launcher-'));
  onCleanup('temporary files', () => rmSync(temp, { recursive: true, force: true }));
  const output = join(temp, 'output.log');
  const result = join(temp, 'result.json');
  writeFileSync(output, '');

  let settle;
  const finished = new Promise((done) => {
    settle = done;
  });
  const end = (code, why) => settle({ code, why });
  const timer = setTimeout(
    () => end(TIMED_OUT, `The tests did not end within ${TIMEOUT_MS} ms.`),
    TIMEOUT_MS,
  );

  const server = await startServer({
    driver: true,
    args: options.serverArgs,
    ...(options.userDataDir && { userDataDir: resolve(options.userDataDir) }),
    ...(options.extensionsDir && { extensionsDir: resolve(options.extensionsDir) }),
    env: {
      E2E_SWE_TESTS_MODULE: resolve(options.tests),
      E2E_SWE_TESTS_OUTPUT: output,
      E2E_SWE_TESTS_RESULT: result,
    },
    onOutput: (text) => {
      const [, code, name] =
        /Extension Host Process exited with code: (\S+), signal: (\S+?)\./.exec(text) ?? [];
      if (!code) return;
      const why = `The extension host ended without a test result (code ${code}, signal ${name}).`;
      setTimeout(() => end(1, why), code === '0' ? LATE_RESULT_MS : 0);
    },
  });
  onCleanup('editor server', () => server.stop());
  void server.ended.then((how) => end(1, `The editor server ended (${how}):\n${server.log().slice(-2_000)}`));

  const print = printer(output);
  const printing = setInterval(print, 100);
  const opening = openWorkbench(server, options, end);
  const { code, why } = await Promise.race([finished, opening.then(() => finished)]);
  clearInterval(printing);
  clearTimeout(timer);
  print();
  if (why) log(why);
  if (code === 0 && !readResult(result)) {
    log('The extension host ended well, but the tests never did: that is a failure.');
    return 1;
  }
  return code;
}

await runMain(main);

// npm start [-- --yes] [--browser] [--port N] [--no-open] [FOLDER]
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { startServer } from './editor-host/server.mjs';
import { onCleanup, runMain } from './lib/cleanup.mjs';
import { ensureDeps } from './lib/deps.mjs';
import { findDesktopCode, openDesktop } from './lib/desktop.mjs';
import { build } from './lib/groups.mjs';
import { PlainError, say, step } from './lib/log.mjs';
import { ROOT, which } from './lib/paths.mjs';
import { runGroup } from './lib/run.mjs';
import { setUp } from './lib/setup.mjs';

const SAMPLE_TASK = join(ROOT, 'tasks/tidequery');

function readArguments() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      yes: { type: 'boolean', short: 'y' },
      browser: { type: 'boolean', default: false },
      port: { type: 'string', default: '0' },
      'no-open': { type: 'boolean', default: false },
    },
  });
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new PlainError(`"${values.port}" is no port.`);
  const folder = positionals[0] ? resolve(process.env.INIT_CWD ?? '.', positionals[0]) : join(ROOT, 'tasks');
  if (!existsSync(folder)) throw new PlainError(`There is no folder ${folder}.`);
  return { ...values, port, folder };
}

/** Builds the image of the bundled task beforehand, so that the first grade starts at once. */
async function prepareTask() {
  step('Prepare the image of the bundled task');
  const { code } = await runGroup(process.execPath, [join(ROOT, 'dist/cli.cjs'), 'prepare', SAMPLE_TASK]);
  if (code !== 0)
    say(`It could not be prepared (exit code ${code}, see above). The first grade will try again.`);
}

function openInBrowser(url) {
  const opener = process.platform === 'darwin' ? 'open' : 'xdg-open';
  const hasDisplay = process.platform === 'darwin' || process.env.DISPLAY || process.env.WAYLAND_DISPLAY;
  if (!hasDisplay || !which(opener)) return;
  spawn(opener, [url], { stdio: 'ignore', detached: true })
    .on('error', () => {})
    .unref();
}

async function serve({ port, folder, 'no-open': noOpen }) {
  // The secret keeps web pages and other users of this machine out: the server can run anything as this user.
  const token = randomBytes(16).toString('hex');
  const server = await startServer({
    port,
    token,
    extensionFrom: ROOT,
    ownTemp: true,
    settings: { 'workbench.reduceMotion': 'auto' },
  });
  onCleanup('editor server', () => server.stop());
  const url = server.url(folder);
  say('\nVS Code with the extension is at');
  say(url);
  say('\nPress Ctrl-C to stop it.');
  if (!noOpen) openInBrowser(url);
  throw new PlainError(`The editor server ended (${await server.ended}).`);
}

async function main() {
  const options = readArguments();
  await ensureDeps();
  const desktop = options.browser ? undefined : await findDesktopCode();
  const needs = ['engine', 'baseImage', ...(desktop ? [] : ['editorHost'])];
  const { agreed, failed } = await setUp(needs, { yes: options.yes, again: 'npm start -- --yes' });
  if (!agreed) return 1;
  if (failed.has('editorHost')) throw new PlainError(failed.get('editorHost'));
  for (const need of ['engine', 'baseImage']) {
    if (failed.has(need)) say(`Without it nothing can be graded: ${failed.get(need)}`);
  }
  step('Build the extension');
  if (!(await build(process.env))) throw new PlainError('The build failed, see above.');
  if (!failed.has('engine')) await prepareTask();
  if (desktop) await openDesktop(desktop, ROOT, options.folder);
  else await serve(options);
  return 0;
}

await runMain(main);

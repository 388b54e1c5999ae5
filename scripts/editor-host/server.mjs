import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { onExit } from '../lib/cleanup.mjs';
import { editorHostPaths, hasEditorHost } from '../lib/editorHost.mjs';
import { PlainError } from '../lib/log.mjs';
import { signal, sleep } from '../lib/run.mjs';
import { installExtension } from './extension.mjs';
import { QUIET_SETTINGS } from './settings.mjs';

const HOST = '127.0.0.1';
const START_MS = 30_000;
const STOP_MS = 4_000;
const LOG_CHARS = 200_000;

// What an editor around us put into the environment (VSCODE_TEST_* is for the tests and stays).
const FOREIGN_ENV = /^(VSCODE_(?!TEST_)|CODE_SERVER_|ELECTRON_)/;

function serverEnv(extra) {
  const kept = Object.entries(process.env).filter(([name]) => !FOREIGN_ENV.test(name));
  return { EXTENSIONS_GALLERY: '{"serviceUrl":""}', ...extra, ...Object.fromEntries(kept) };
}

function writeSettings(userData, settings) {
  // The server keeps the user's settings on its own disk. Machine settings hold what is machine-scoped.
  for (const scope of ['User', 'Machine']) {
    const file = join(userData, scope, 'settings.json');
    mkdirSync(join(userData, scope), { recursive: true });
    if (!existsSync(file)) writeFileSync(file, JSON.stringify(settings, undefined, 2));
  }
}

/** The server merely logs that its port is taken, and goes on without one. */
async function checkPort(port) {
  const probe = createServer();
  const free = await new Promise((done) => {
    probe.once('error', () => done(false)).listen(port, HOST, () => done(true));
  });
  if (!free) throw new PlainError(`Port ${port} of ${HOST} cannot be used: another program has it.`);
  await new Promise((done) => probe.close(done));
}

function serverFlags({ port = 0, token, driver, args = [] }, folders) {
  return [
    `--host=${HOST}`,
    `--port=${port}`,
    `--server-data-dir=${folders.data}`,
    `--user-data-dir=${folders.user}`,
    `--extensions-dir=${folders.extensions}`,
    token ? `--connection-token=${token}` : '--without-connection-token',
    ...(driver ? ['--enable-smoke-test-driver'] : []),
    '--accept-server-license-terms',
    '--disable-telemetry',
    '--disable-experiments',
    '--disable-workspace-trust',
    ...args,
  ];
}

/**
 * Starts the VS Code server on the loopback address.
 *
 * @param {import('./server.d.mts').ServerOptions} options
 * @returns {Promise<import('./server.d.mts').EditorServer>}
 */
export async function startServer(options = {}) {
  if (!hasEditorHost())
    throw new PlainError('The editor host is not installed. "npm test -- --yes" installs it.');
  if (options.port) await checkPort(options.port);
  const temp = mkdtempSync(join(tmpdir(), 'server-'));
  const removeTemp = () => rmSync(temp, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  const forgetTemp = onExit(removeTemp);
  const folders = {
    data: join(temp, 'data'),
    user: options.userDataDir ?? join(temp, 'user'),
    extensions: options.extensionsDir ?? join(temp, 'extensions'),
    run: join(temp, 'run'),
    tmp: join(temp, 'tmp'),
  };
  for (const name of ['run', 'tmp']) mkdirSync(folders[name]);
  const env = {
    // Sockets go below our folder, where the machine has no place of its own for them.
    ...serverEnv({ XDG_RUNTIME_DIR: folders.run }),
    ...(options.ownTemp && { TMPDIR: folders.tmp }),
    ...options.env,
  };
  writeSettings(folders.user, { ...QUIET_SETTINGS, ...options.settings });
  if (options.extensionFrom) await installExtension(options.extensionFrom, folders.extensions, env);
  const { node, server } = editorHostPaths();
  // A process group of its own: extension hosts and terminals end with the server.
  const child = spawn(node, [server, ...serverFlags(options, folders)], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const forget = onExit(() => child.pid && signal(-child.pid, 'SIGKILL'));
  let log = '';
  const take = (text) => {
    log = (log + text).slice(-LOG_CHARS);
    options.onOutput?.(text);
  };
  child.stdout.setEncoding('utf8').on('data', take);
  child.stderr.setEncoding('utf8').on('data', take);
  const ended = new Promise((done) => {
    child.once('error', (error) => done(error.message));
    child.once('exit', (code, name) => done(name ?? `exit code ${code}`));
  });
  const stop = async () => {
    if (child.pid) signal(-child.pid, 'SIGTERM');
    await Promise.race([ended, sleep(STOP_MS)]);
    if (child.pid) signal(-child.pid, 'SIGKILL');
    await ended;
    forget();
    removeTemp();
    forgetTemp();
  };
  const port = await listening(child, ended, () => log).catch(async (error) => {
    await stop();
    throw error;
  });
  const token = options.token ? `tkn=${options.token}&` : '';
  const authority = `${HOST}:${port}`;
  return {
    port,
    authority,
    url: (folder, query = '') => {
      const where = folder
        ? `folder=${encodeURIComponent(resolve(folder)).replaceAll('%2F', '/')}`
        : 'ew=true';
      return `http://${authority}/?${token}${where}${query}`;
    },
    ended,
    log: () => log,
    stop,
  };
}

function listening(child, ended, log) {
  return new Promise((done, fail) => {
    const timer = setTimeout(() => fail(new Error(`The editor server did not start:\n${log()}`)), START_MS);
    const look = () => {
      const port = /Extension host agent listening on (\d+)/.exec(log())?.[1];
      if (!port) return;
      clearTimeout(timer);
      child.stdout.off('data', look);
      done(Number(port));
    };
    child.stdout.on('data', look);
    ended.then((how) => {
      clearTimeout(timer);
      fail(new PlainError(`The editor server ended (${how}):\n${log()}`));
    });
  });
}

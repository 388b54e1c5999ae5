import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { onExit } from './cleanup.mjs';
import { PlainError } from './log.mjs';
import { npm } from './npm.mjs';
import { cacheDir, ROOT } from './paths.mjs';
import { isAlive } from './run.mjs';

const SOURCE = join(ROOT, 'scripts/editor-host');
const MANIFESTS = ['package.json', 'package-lock.json'];
const ARCHES = ['x64', 'arm64'];

// Small scripts in place of two native modules, so that nothing is compiled.
const STUBS = {
  'spdlog.cjs': 'node_modules/@vscode/spdlog/index.js',
  'nativeWatchdog.cjs': 'node_modules/@vscode/native-watchdog/index.js',
};

/** The folder of the editor host: a new one for every version and lock file. */
function editorHostDir() {
  const lock = readFileSync(join(SOURCE, 'package-lock.json'));
  const { dependencies } = JSON.parse(readFileSync(join(SOURCE, 'package.json'), 'utf8'));
  const hash = createHash('sha256').update(lock).digest('hex').slice(0, 8);
  return join(cacheDir(), `editor-host-${dependencies['code-server']}-${hash}`);
}

/** The parts of an editor host that are run. */
export function editorHostPaths(dir = editorHostDir()) {
  const vscode = join(dir, 'node_modules/code-server/lib/vscode');
  const nodeHome = join(dir, `node_modules/node-linux-${process.arch}`);
  return {
    dir,
    vscode,
    nodeHome,
    node: join(nodeHome, 'bin/node'),
    server: join(vscode, 'out/server-main.js'),
  };
}

/** True where the editor host is there; it is moved to its place only when complete. */
export const hasEditorHost = () => existsSync(editorHostDir());

/** The step that installs the editor host, or undefined where it is there. */
export async function planEditorHost() {
  if (hasEditorHost()) return undefined;
  const title = `Install the editor host (a VS Code server, about 430 MB)`;
  if (process.platform !== 'linux' || !ARCHES.includes(process.arch)) {
    const blocked = `The editor host runs on Linux (${ARCHES.join(', ')}) alone. Use desktop VS Code here: npm run test:desktop.`;
    return { title, commands: [], blocked };
  }
  const dir = editorHostDir();
  const commands = [
    `npm ci --ignore-scripts    # in ${dir}, with scripts/editor-host/package-lock.json`,
    `npm install --omit=dev --ignore-scripts    # in ${editorHostPaths(dir).vscode}`,
  ];
  return { title, commands, run: install };
}

async function install() {
  const final = editorHostDir();
  mkdirSync(cacheDir(), { recursive: true });
  removeAbandoned(final);
  const dir = `${final}.tmp-${process.pid}`;
  const forget = onExit(() => rmSync(dir, { recursive: true, force: true }));
  mkdirSync(dir);
  for (const name of MANIFESTS) copyFileSync(join(SOURCE, name), join(dir, name));
  await npm(['ci', '--ignore-scripts', '--loglevel=error'], { cwd: dir });
  const paths = editorHostPaths(dir);
  if (!existsSync(paths.node)) throw new PlainError(`The editor host has no Node.js for ${process.arch}.`);
  // `npm ci` refuses the shrinkwrap that ships there (it lacks tslib); its versions are pinned all the same.
  await npm(['install', '--omit=dev', '--ignore-scripts', '--loglevel=error'], { cwd: paths.vscode });
  for (const [stub, place] of Object.entries(STUBS)) {
    copyFileSync(join(SOURCE, 'stubs', stub), join(paths.vscode, place));
  }
  trim(paths);
  if (!existsSync(paths.server))
    throw new PlainError('The editor host is incomplete: its server is missing.');
  renameSync(dir, final);
  forget();
}

/** Removes half-made installations whose process is gone. */
function removeAbandoned(final) {
  for (const name of readdirSync(cacheDir())) {
    const pid = Number(/^editor-host-.*\.tmp-(\d+)$/.exec(name)?.[1]);
    if (pid && !isAlive(pid)) rmSync(join(cacheDir(), name), { recursive: true, force: true });
  }
  rmSync(`${final}.tmp-${process.pid}`, { recursive: true, force: true });
}

/** Drops what these tests never use: AI extensions, other systems' binaries. The authentication extensions must stay. */
function trim({ vscode, nodeHome }) {
  const remove = (path) => rmSync(path, { recursive: true, force: true });
  const modules = join(vscode, 'node_modules');
  for (const name of ['@github', '@microsoft/mxc-sdk', '@devcontainers']) remove(join(modules, name));
  for (const name of ['copilot', 'mermaid-markdown-features']) remove(join(vscode, 'extensions', name));
  for (const name of readdirSync(join(modules, '@vscode'))) {
    if (name.startsWith('windows-')) remove(join(modules, '@vscode', name));
  }
  removeForeignBinaries(join(modules, 'node-pty/prebuilds'));
  removeForeignBinaries(join(modules, '@vscode/ripgrep-universal'));
  remove(join(nodeHome, 'share'));
}

function removeForeignBinaries(folder) {
  if (!existsSync(folder)) return;
  const foreign = /^(darwin|win32|linux|alpine)[-\w]*$/;
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true });
  for (const entry of entries.filter((one) => one.isDirectory() && foreign.test(one.name))) {
    if (entry.name === `linux-${process.arch}`) continue;
    rmSync(join(entry.parentPath ?? entry.path, entry.name), { recursive: true, force: true });
  }
}

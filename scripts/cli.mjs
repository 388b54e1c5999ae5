// npm run e2e-swe -- ARGUMENTS: the command line, built when needed. Standard output is the command's alone.
import { spawn } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ensureDeps } from './lib/deps.mjs';
import { logToStderr, sayError } from './lib/log.mjs';
import { ROOT } from './lib/paths.mjs';
import { runOrFail } from './lib/run.mjs';

const PROGRAM = join(ROOT, 'dist/cli.cjs');
const SOURCES = ['src', 'esbuild.config.mjs', 'package.json', 'package-lock.json'];
const TO_STDERR = ['ignore', 2, 2];

const changed = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;

function newest(path) {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return changed(path);
  return Math.max(...readdirSync(path, { recursive: true }).map((name) => changed(join(path, name))));
}

async function build() {
  await ensureDeps(TO_STDERR);
  if (SOURCES.some((name) => newest(join(ROOT, name)) > changed(PROGRAM))) {
    await runOrFail(process.execPath, ['esbuild.config.mjs'], { cwd: ROOT, stdio: TO_STDERR });
  }
}

function exec() {
  const cwd = process.env.INIT_CWD ?? process.cwd();
  const child = spawn(process.execPath, [PROGRAM, ...process.argv.slice(2)], { cwd, stdio: 'inherit' });
  // Ctrl-C reaches the child by itself; the others are passed on. Either way its own exit code is what counts.
  process.on('SIGINT', () => {});
  for (const name of ['SIGTERM', 'SIGHUP']) process.on(name, () => child.kill(name));
  child.on('exit', (code, signal) => {
    if (!signal) process.exit(code ?? 1);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

logToStderr();
try {
  await build();
  exec();
} catch (error) {
  sayError(error);
  process.exitCode = 1;
}

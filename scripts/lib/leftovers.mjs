import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { listOurs, pingEngine, removeOurs } from './engineApi.mjs';
import { LABEL } from './paths.mjs';
import { failedOne, passedOne } from './results.mjs';
import { signal, waitUntil } from './run.mjs';

const GRACE_MS = 5_000;

/** The variable that marks every process started by a test run (its children inherit it). */
export const RUN_MARK = 'E2E_SWE_TEST_RUN';

// Caches of tools, kept in the folder for temporary files by design.
const TOOL_CACHES = /^(node-compile-cache|v8-compile-cache.*|vscode-typescript.*)$/;

function readProc(pid, name) {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return ''; // The process ended, or it belongs to someone else.
  }
}

/** Processes that this run started, wherever they are now: by the mark in their environment or a path of the run. */
function processes(mark, temp) {
  if (!existsSync('/proc/self/environ')) return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter(
      (pid) =>
        readProc(pid, 'environ').includes(`${RUN_MARK}=${mark}`) || readProc(pid, 'cmdline').includes(temp),
    )
    .map((pid) => ({
      pid: Number(pid),
      command: readProc(pid, 'cmdline').replaceAll('\0', ' ').slice(0, 120),
    }));
}

/** The identities of what the engine holds with our label, taken before the run. */
export async function engineState() {
  const { ok } = await pingEngine();
  return new Set(ok ? (await listOurs()).map(({ id }) => id) : []);
}

/**
 * True where the owner's label (`host|pid|start time`) names a live process outside this run: someone else's work on
 * the same engine.
 */
function ownedByOthers(labels, ownRun) {
  const pid = Number(/\|(\d+)\|/.exec(labels?.[`${LABEL}.owner`] ?? '')?.[1]);
  return pid > 0 && existsSync(`/proc/${pid}`) && !ownRun(pid);
}

async function engineLeftovers(before, mark) {
  const { ok } = await pingEngine();
  if (!ok) return [];
  const ownRun = (pid) => readProc(pid, 'environ').includes(`${RUN_MARK}=${mark}`);
  return (await listOurs()).filter(({ id, labels }) => !before.has(id) && !ownedByOthers(labels, ownRun));
}

/**
 * Checks that the run left nothing behind, and removes what it did leave.
 *
 * @param {{ mark: string, temp: string, scratch: string, before: Set<string> }} run `scratch`: the children's TMPDIR.
 */
export async function checkNothingLeft({ mark, temp, scratch, before }, graceMs = GRACE_MS) {
  let running = [];
  await waitUntil(() => {
    running = processes(mark, temp);
    return running.length === 0;
  }, graceMs);
  for (const { pid } of running) signal(pid, 'SIGKILL');
  let onEngine = [];
  await waitUntil(
    async () => {
      onEngine = await engineLeftovers(before, mark);
      return onEngine.length === 0;
    },
    graceMs,
    500,
  );
  for (const item of onEngine) await removeOurs(item);
  const files = readdirSync(scratch).filter((name) => !TOOL_CACHES.test(name));
  const left = [
    ...running.map(({ pid, command }) => `process ${pid} (${command})`),
    ...onEngine.map(({ kind, name }) => `${kind} ${name}`),
    ...files.map((name) => `temporary file ${name}`),
  ];
  return left.length === 0 ? passedOne() : failedOne('nothing left behind', left.join('; '));
}

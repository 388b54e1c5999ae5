import { say, sayError } from './log.mjs';

/** @type {{ name: string, undo: () => unknown }[]} */
const pending = [];
const atExit = new Set();
let cleaning;
let stopping = false;

process.on('exit', () => {
  for (const undo of atExit) undo();
});

/** Registers something to undo at the end, newest first. Returns a function that undoes it now instead. */
export function onCleanup(name, undo) {
  const entry = { name, undo };
  pending.push(entry);
  return async () => {
    const index = pending.indexOf(entry);
    if (index < 0) return;
    pending.splice(index, 1);
    await undo();
  };
}

/** Registers a synchronous last resort, run however this process exits (but for SIGKILL). Returns its removal. */
export function onExit(undo) {
  atExit.add(undo);
  return () => atExit.delete(undo);
}

/** True once a signal asked this process to end: nothing new may be started. */
export function isStopping() {
  return stopping;
}

/** Undoes everything registered so far; a failing step does not keep the others from running. */
function cleanUp() {
  cleaning ??= (async () => {
    for (let entry = pending.pop(); entry; entry = pending.pop()) {
      try {
        await entry.undo();
      } catch (error) {
        say(`Cleaning up "${entry.name}" failed.`);
        sayError(error);
      }
    }
    cleaning = undefined;
  })();
  return cleaning;
}

/** Ctrl-C, SIGTERM and SIGHUP clean up before this process ends. */
function handleSignals() {
  for (const [signal, number] of Object.entries({ SIGINT: 2, SIGTERM: 15, SIGHUP: 1 })) {
    process.on(signal, async () => {
      if (stopping) return;
      stopping = true;
      say(`\nStopping (${signal}).`);
      await cleanUp();
      process.exit(128 + number);
    });
  }
}

/** Runs a script's main function: signals handled, clean-up always done, its result taken as the exit code. */
export async function runMain(main) {
  handleSignals();
  let code = 1;
  try {
    code = await main();
  } catch (error) {
    if (!stopping) sayError(error);
  }
  if (stopping) return; // The signal's handler ends the process.
  await cleanUp();
  process.exit(code);
}

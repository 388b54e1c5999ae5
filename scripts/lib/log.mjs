import { writeSync } from 'node:fs';

let descriptor = 1;
const started = Date.now();

/** Sends all messages to standard error: for commands whose standard output is data. */
export function logToStderr() {
  descriptor = 2;
}

/** Prints one line (synchronously, so that lines of child processes never come out of order). */
export function say(text = '') {
  const bytes = Buffer.from(`${text}\n`);
  for (let offset = 0; offset < bytes.length; ) {
    try {
      offset += writeSync(descriptor, bytes, offset);
    } catch (error) {
      if (error.code === 'EPIPE') return;
      if (error.code !== 'EAGAIN') throw error;
    }
  }
}

/** Prints the heading of a step, with the seconds since the start. */
export function step(title) {
  say(`\n==> ${title} [${seconds(Date.now() - started)}]`);
}

/** Milliseconds as a short text: "12.3 s". */
export function seconds(ms) {
  return `${(ms / 1000).toFixed(1)} s`;
}

/** An error whose message is all a user needs: it is printed without a stack. */
export class PlainError extends Error {}

/** Prints an error: the message alone where it was written for users, else with its stack. */
export function sayError(error) {
  say(error instanceof PlainError ? error.message : String(error?.stack ?? error));
}

import { setTimeout as delay } from 'node:timers/promises';
import { CancelledError } from '#core/base/errors.ts';
import type { ContainerHandle } from '#core/container/engine.ts';
import { EngineError } from '#core/container/engine.ts';
import { LookOutput } from './lookOutput.ts';

export interface RunOptions {
  readonly workdir: string;
  /** For bash; default: /tests/test.sh as Harbor runs it (harbor.md §4.5). */
  readonly command?: string;
  readonly user: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  /** Seconds from the script's start. */
  readonly timeoutSec: number;
  /** Run in front of the tests, in the same exec and as the same user (root); tests do not run if it fails. */
  readonly first?: { readonly script: string; readonly args: readonly string[] } | undefined;
  /** Gets the script's output as it comes. */
  readonly onOutput?: ((chunk: string) => void) | undefined;
}

export interface RunOutcome {
  /** Of test.sh, for information only (harbor.md §4.5); null when it was ended from outside. */
  readonly exitCode: number | null;
  readonly timedOut: boolean;
  /** As the container's state tells it; of a command in it only an event does (docker.md §D). */
  readonly oomKilled: boolean;
  /** The container ended by itself while the script ran. */
  readonly died: boolean;
  /** Epoch milliseconds. */
  readonly endedAt: number;
  /** Whether `first` printed all that it has to. */
  readonly firstIsWhole: boolean;
  /** What `first` printed. */
  readonly stdout: Buffer;
  readonly stderr: Buffer;
}

const nothing = Buffer.alloc(0);
const ended = {
  ...{ exitCode: null, died: false, oomKilled: false },
  ...{ firstIsWhole: false, stdout: nothing, stderr: nothing },
};

const harborsCommand = '(/tests/test.sh) > /logs/verifier/test-stdout.txt 2>&1';
/** Looks five times a second: on an overlay tail is told of nothing. */
const followCommand = 'exec tail -c +1 -s 0.2 -F /logs/verifier/test-stdout.txt 2>/dev/null';
/** How long the exec of a killed container may take to end before the engine counts as gone. */
const killGraceMs = 30_000;
/** What `tail -F` gets to print the last lines. */
const followGraceMs = 400;

/** Processes of ours in a grade container; what else is left at the end is the submission's. */
export const ownCommands = [
  'sleep infinity',
  'sh -c sleep infinity',
  followCommand.replace('exec ', ''),
  'tail -c +1 -s 0.2 -F /logs/verifier/test-stdout.txt',
];

/** Runs /tests/test.sh to its end or to the deadline, which is ours and outside: the whole container is killed. */
export async function runTests(
  container: ContainerHandle,
  options: RunOptions,
  signal: AbortSignal,
): Promise<RunOutcome> {
  const look = new LookOutput();
  let timedOut = false;
  const giveUp = new AbortController();
  const following = new AbortController();
  const timer = setTimeout(
    () => {
      timedOut = true;
      void container.kill().catch(() => undefined);
      setTimeout(() => giveUp.abort(), killGraceMs).unref();
    },
    Math.max(0, Math.min(options.timeoutSec * 1000, 2 ** 31 - 1)),
  );
  const command = options.command ?? harborsCommand;
  const follower = options.onOutput
    ? follow(container, options.onOutput, AbortSignal.any([signal, following.signal]))
    : Promise.resolve();
  try {
    const { exitCode } = await container.exec(
      {
        command: options.first
          ? ['sh', '-c', `${options.first.script}\nexec bash -c '${command}'`, 'sh', ...options.first.args]
          : ['bash', '-c', command],
        keepBytes: 0,
        ...(options.first ? { onOutput: (data, stream) => look.write(data, stream) } : {}),
        workdir: options.workdir,
        env: options.env,
        ...(options.user === undefined ? {} : { user: options.user }),
      },
      AbortSignal.any([signal, giveUp.signal]),
    );
    const endedAt = Date.now();
    clearTimeout(timer);
    const { stdout, stderr } = look;
    if (timedOut) return { ...ended, timedOut, endedAt, stdout, stderr };
    const { running, oomKilled } = await container.state(signal);
    if (options.onOutput) await Promise.race([follower, delay(followGraceMs)]);
    const died = !running;
    return { exitCode, timedOut, oomKilled, died, endedAt, firstIsWhole: look.isWhole, stdout, stderr };
  } catch (error) {
    if (giveUp.signal.aborted && !signal.aborted)
      throw new EngineError('lost', 'The engine did not end the container after its deadline.', {
        cause: error,
      });
    if (signal.aborted) throw new CancelledError();
    if (timedOut) return { ...ended, timedOut, endedAt: Date.now() };
    throw error;
  } finally {
    clearTimeout(timer);
    following.abort();
    await follower;
  }
}

async function follow(
  container: ContainerHandle,
  onOutput: (chunk: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const decoder = new TextDecoder('utf-8');
  try {
    await container.exec(
      {
        command: ['sh', '-c', followCommand],
        user: '0',
        keepBytes: 0,
        onOutput: (data) => onOutput(decoder.decode(data, { stream: true })),
      },
      signal,
    );
  } catch {
    // Live output is a courtesy: the whole log is read from the container's file afterwards.
  }
}

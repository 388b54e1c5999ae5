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
  readonly first?:
    | {
        readonly script: string;
        readonly args: readonly string[];
        /** For what it copies in; time counts from its end on, which it tells by `copied`. */
        readonly input?: AsyncIterable<Buffer>;
      }
    | undefined;
  /** The files are in. */
  readonly onCopied?: () => void;
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
  /** Whether `first` copied its input in. */
  readonly copied: boolean;
  /** Whether `first` printed all that it has to. */
  readonly firstIsWhole: boolean;
  /** What `first` printed. */
  readonly stdout: Buffer;
  readonly stderr: Buffer;
}

const nothing = Buffer.alloc(0);
const ended = {
  ...{ exitCode: null, died: false, oomKilled: false },
  ...{ copied: false, firstIsWhole: false, stdout: nothing, stderr: nothing },
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
  let timer: NodeJS.Timeout | undefined;
  let follower = Promise.resolve();
  const begin = (): void => {
    timer = setTimeout(
      () => {
        timedOut = true;
        void container.kill().catch(() => undefined);
        setTimeout(() => giveUp.abort(), killGraceMs).unref();
      },
      Math.max(0, Math.min(options.timeoutSec * 1000, 2 ** 31 - 1)),
    );
    if (options.onOutput)
      follower = follow(container, options.onOutput, AbortSignal.any([signal, following.signal]));
  };
  const onFirst = (data: Buffer, stream: 'stdout' | 'stderr'): void => {
    look.write(data, stream);
    if (timer !== undefined || !look.isCopied) return;
    begin();
    options.onCopied?.();
  };
  const command = options.command ?? harborsCommand;
  const input = options.first?.input;
  if (!input) begin();
  try {
    const { exitCode } = await container.exec(
      {
        command: options.first
          ? [
              'sh',
              '-c',
              `${options.first.script}\nexec bash -c '${command}' </dev/null`,
              'sh',
              ...options.first.args,
            ]
          : ['bash', '-c', command],
        keepBytes: 0,
        ...(options.first ? { onOutput: onFirst } : {}),
        ...(input ? { input } : {}),
        workdir: options.workdir,
        env: options.env,
        ...(options.user === undefined ? {} : { user: options.user }),
      },
      AbortSignal.any([signal, giveUp.signal]),
    );
    const endedAt = Date.now();
    clearTimeout(timer);
    const { stdout, stderr, isCopied: copied } = look;
    if (timedOut) return { ...ended, timedOut, endedAt, copied, stdout, stderr };
    const { running, oomKilled } = await container.state(signal);
    if (options.onOutput) await Promise.race([follower, delay(followGraceMs)]);
    const died = !running;
    return {
      ...{ exitCode, timedOut, oomKilled, died, endedAt },
      ...{ copied, firstIsWhole: look.isWhole, stdout, stderr },
    };
  } catch (error) {
    if (giveUp.signal.aborted && !signal.aborted)
      throw new EngineError('lost', 'The engine did not end the container after its deadline.', {
        cause: error,
      });
    if (signal.aborted) throw new CancelledError();
    if (timedOut) return { ...ended, timedOut, endedAt: Date.now(), copied: look.isCopied };
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

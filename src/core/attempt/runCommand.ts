import { randomBytes } from 'node:crypto';
import type { Readable } from 'node:stream';
import { CancelledError, isCancellation } from '#core/base/errors.ts';
import type { ContainerHandle } from '#core/container/engine.ts';
import { readFrames } from '#core/container/frames.ts';

export interface CommandSpec {
  readonly command: readonly string[];
  readonly user?: string | undefined;
  readonly workdir: string;
  /** Becomes the command's input; without it there is none. */
  readonly input?: Readable | undefined;
  /** Awaited: a slow reader slows the writer. */
  readonly onOutput: (data: Buffer, stream: 'stdout' | 'stderr') => void | Promise<void>;
}

/** Carries a mark by which everything that a command started is found. */
const markVariable = 'E2E_SWE_COMMAND';
const killScript = `for e in /proc/[0-9]*/environ; do
  p=\${e%/environ}; p=\${p#/proc/}
  [ "$p" != $$ ] && tr '\\0' '\\n' <"$e" 2>/dev/null | grep -qxF "${markVariable}=$1" && kill -KILL "$p"
done
:`;

/** Runs a command in an attempt's container; the result is its exit code. When the signal fires, what it started ends. */
export async function runCommand(
  container: ContainerHandle,
  spec: CommandSpec,
  signal: AbortSignal,
): Promise<number> {
  const mark = randomBytes(8).toString('hex');
  const user = spec.user === undefined ? {} : { user: spec.user };
  const marked = { command: spec.command, workdir: spec.workdir, env: { [markVariable]: mark }, ...user };
  try {
    if (spec.input) return await runWithInput(container, { ...spec, ...marked, input: spec.input }, signal);
    const { exitCode } = await container.exec({ ...marked, onOutput: spec.onOutput, keepBytes: 0 }, signal);
    return exitCode;
  } catch (error) {
    if (signal.aborted || isCancellation(error))
      await container
        .exec({ command: ['sh', '-c', killScript, 'sh', mark], user: '0', workdir: '/' })
        .catch(() => undefined);
    throw error;
  }
}

async function runWithInput(
  container: ContainerHandle,
  spec: CommandSpec & { readonly input: Readable; readonly env: Readonly<Record<string, string>> },
  signal: AbortSignal,
): Promise<number> {
  const { command, workdir, env, input, onOutput } = spec;
  const user = spec.user === undefined ? {} : { user: spec.user };
  const running = await container.interact({ command, workdir, env, tty: false, ...user }, signal);
  const onAbort = (): void => {
    running.stream.destroy(new CancelledError());
  };
  signal.addEventListener('abort', onAbort, { once: true });
  input.pipe(running.stream);
  try {
    for await (const { data, stream } of readFrames(running.stream)) await onOutput(data, stream);
    return await running.exitCode(signal);
  } finally {
    signal.removeEventListener('abort', onAbort);
    input.unpipe(running.stream);
    input.destroy();
  }
}

import type { Duplex, Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type Docker from 'dockerode';
import { CancelledError, errorMessage } from '#core/base/errors.ts';
import { engineError, statusCode } from './dockerErrors.ts';
import type { ExecResult, ExecSpec } from './engine.ts';
import { forget, startExec } from './execStarts.ts';
import { type Feeding, feed } from './feed.ts';
import { readFrames } from './frames.ts';
import { exitCodeOf, unlessAborted } from './interactiveExec.ts';
import { Tail } from './streams.ts';
import { withSignal } from './withSignal.ts';

/** How often a running command's state is asked for: some engines never close the stream of an ended exec. */
const execPollMs = 2_000;
/** How long a stream may stay open, silent, after its command ended. */
const execDrainMs = 3_000;

/** Runs a command to its end; one whose stream ends while its end is unknown rejects with `EngineError`. */
export async function runExec(
  docker: Docker,
  container: Docker.Container,
  spec: ExecSpec,
  signal?: AbortSignal,
): Promise<ExecResult> {
  const doing = `running ${spec.command[0]}`;
  let execution: Docker.Exec;
  let stream: Readable;
  try {
    execution = await container.exec(
      withSignal(
        {
          Cmd: [...spec.command],
          AttachStdin: spec.input !== undefined,
          AttachStdout: true,
          AttachStderr: true,
          Tty: false,
          ...(spec.user === undefined ? {} : { User: spec.user }),
          ...(spec.workdir === undefined ? {} : { WorkingDir: spec.workdir }),
          Env: Object.entries(spec.env ?? {}).map(([key, value]) => `${key}=${value}`),
        },
        signal,
      ),
    );
    stream = await startExec(container.id, execution, () => start(execution, spec, signal));
  } catch (error) {
    const refused = asRefusedCommand(error);
    if (refused && !signal?.aborted) return refused;
    throw engineError(error, doing, 'exec-failed', signal);
  }
  const feeding = spec.input && feed(stream as Duplex, spec.input);
  try {
    const result = await followExec(docker, execution, stream, spec, doing, feeding, signal);
    forget(container.id, execution);
    return result;
  } finally {
    await feeding?.stop();
  }
}

/** A command with an input has its connection hijacked (`interact`). */
function start(execution: Docker.Exec, { input }: ExecSpec, signal?: AbortSignal): Promise<Readable> {
  return input
    ? unlessAborted(execution.start({ hijack: true, stdin: true, Tty: false }), signal)
    : (execution.start(
        withSignal({ Detach: false, Tty: false }, signal) as Docker.ExecStartOptions,
      ) as unknown as Promise<Readable>);
}

/**
 * A command that cannot be started, for want of its user, file or folder. Docker runs it to exit code 126 with the
 * reason as its output (docker.md §D); Podman refuses it, and is made to say the same.
 */
function asRefusedCommand(error: unknown): ExecResult | undefined {
  const text = errorMessage(error);
  const isRefused =
    statusCode(error) === 500 &&
    /unable to find user|no matching entries in (?:passwd|group)|OCI runtime/.test(text);
  return isRefused ? { exitCode: 126, stdout: Buffer.from(text), stderr: Buffer.alloc(0) } : undefined;
}

async function followExec(
  docker: Docker,
  execution: Docker.Exec,
  stream: Readable,
  spec: ExecSpec,
  doing: string,
  feeding: Feeding | undefined,
  signal?: AbortSignal,
): Promise<ExecResult> {
  const kept = { stdout: new Tail(spec.keepBytes ?? 1 << 20), stderr: new Tail(spec.keepBytes ?? 1 << 20) };
  let lastOutput = Date.now();
  let drained = false;
  const ended = new AbortController();
  const watcher = watchForEnd(
    docker,
    execution,
    ended.signal,
    () => Date.now() - lastOutput,
    () => {
      drained = true;
      stream.destroy();
    },
  );
  const onAbort = (): void => {
    stream.destroy(new CancelledError());
  };
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    for await (const frame of readFrames(stream)) {
      lastOutput = Date.now();
      kept[frame.stream].write(frame.data);
      await spec.onOutput?.(frame.data, frame.stream);
      lastOutput = Date.now();
    }
  } catch (error) {
    // A command that ended before it had read all its input has cut the connection itself.
    const leftInput = feeding?.isDone === false && !signal?.aborted && (await isOver(execution));
    if (!drained && !leftInput) throw engineError(error, doing, 'lost', signal);
  } finally {
    ended.abort();
    signal?.removeEventListener('abort', onAbort);
    await watcher;
  }
  if (signal?.aborted) throw new CancelledError();
  const exitCode = await exitCodeOf(execution, doing, signal);
  return { exitCode, stdout: kept.stdout.bytes(), stderr: kept.stderr.bytes() };
}

async function isOver(execution: Docker.Exec): Promise<boolean> {
  try {
    const { Running, ExitCode } = await execution.inspect();
    return !Running && ExitCode !== null;
  } catch {
    return false;
  }
}

/** Ends a stream that stays open and silent although its command is over. */
async function watchForEnd(
  docker: Docker,
  execution: Docker.Exec,
  ended: AbortSignal,
  silentMs: () => number,
  onDrained: () => void,
): Promise<void> {
  try {
    for (;;) {
      await delay(execPollMs, undefined, { signal: ended });
      if (silentMs() < execDrainMs) continue;
      const { Running } = await docker.getExec(execution.id).inspect();
      if (!Running && silentMs() >= execDrainMs) return onDrained();
    }
  } catch {
    // Aborted: the stream ended by itself. An engine that is gone ends the stream by itself too.
  }
}

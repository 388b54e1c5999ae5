import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type Docker from 'dockerode';
import { CancelledError, throwIfCancelled } from '#core/base/errors.ts';
import { engineError } from './dockerErrors.ts';
import type { InteractiveExec, InteractiveSpec } from './engine.ts';
import { startExec } from './execStarts.ts';

/**
 * Starts a command whose input stays open. The connection is hijacked (Engine API, "Hijacking"): only then does ending
 * our side end the command's input and leave its output open.
 */
export async function interact(
  container: Docker.Container,
  spec: InteractiveSpec,
  signal?: AbortSignal,
): Promise<InteractiveExec> {
  const doing = `running ${spec.command[0]}`;
  let execution: Docker.Exec;
  let stream: Duplex;
  try {
    execution = await container.exec({
      Cmd: [...spec.command],
      AttachStdin: true,
      AttachStdout: true,
      AttachStderr: true,
      Tty: spec.tty,
      ...(spec.user === undefined ? {} : { User: spec.user }),
      ...(spec.workdir === undefined ? {} : { WorkingDir: spec.workdir }),
      Env: Object.entries(spec.env ?? {}).map(([key, value]) => `${key}=${value}`),
      ...(signal ? { abortSignal: signal } : {}),
    });
    throwIfCancelled(signal);
    // Not by the client's own signal: that would cut the stream long after the start.
    const start = () => execution.start({ hijack: true, stdin: true, Tty: spec.tty });
    stream = await unlessAborted(startExec(container.id, execution, start), signal);
  } catch (error) {
    throw engineError(error, doing, 'exec-failed', signal);
  }
  return {
    stream,
    async resize(cols, rows) {
      try {
        await execution.resize({ w: cols, h: rows });
      } catch (error) {
        throw engineError(error, 'setting the size of a terminal', 'refused');
      }
    },
    exitCode: (until) => exitCodeOf(execution, doing, until),
  };
}

/** Some engines never answer a start; a stream that comes too late is given up, which ends its command's input. */
export function unlessAborted(starting: Promise<Duplex>, signal: AbortSignal | undefined): Promise<Duplex> {
  if (!signal) return starting;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      starting.then(
        (late) => late.destroy(),
        () => undefined,
      );
      reject(new CancelledError());
    };
    signal.addEventListener('abort', onAbort, { once: true });
    starting.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/** The stream of an exec ends before the engine has noted its exit; wait for that, as long as somebody wants it. */
export async function exitCodeOf(
  execution: Docker.Exec,
  doing: string,
  signal?: AbortSignal,
): Promise<number> {
  for (let attempt = 0; ; attempt++) {
    let info: Docker.ExecInspectInfo;
    try {
      info = await execution.inspect(signal ? { abortSignal: signal } : {});
    } catch (error) {
      throw engineError(error, doing, 'lost', signal);
    }
    if (!info.Running && info.ExitCode !== null && info.ExitCode !== undefined) return info.ExitCode;
    try {
      await delay(Math.min(20 * (attempt + 1), 500), undefined, signal ? { signal } : {});
    } catch {
      throw new CancelledError();
    }
  }
}

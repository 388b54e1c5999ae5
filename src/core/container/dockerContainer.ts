import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type Docker from 'dockerode';
import { CancelledError } from '#core/base/errors.ts';
import { engineError, statusCode } from './dockerErrors.ts';
import type {
  Change,
  ContainerDetails,
  ContainerHandle,
  ContainerState,
  ExecResult,
  ExecSpec,
} from './engine.ts';
import { forget, forgetContainer, freezeApart, startExec } from './execStarts.ts';
import { readFrames } from './frames.ts';
import { exitCodeOf, interact } from './interactiveExec.ts';
import {
  findLayers,
  type InspectedStorage,
  isEmptyInImage,
  layerChanges,
  type OverlayLayers,
  readLayerFolder,
} from './overlayLayers.ts';
import { readLines, Tail, toReadable } from './streams.ts';
import { readTar } from './tarStream.ts';

/** How often a running command's state is asked for: some engines never close the stream of an ended exec. */
const execPollMs = 2_000;
/** How long a stream may stay open, silent, after its command ended. */
const execDrainMs = 3_000;
const removeAttempts = 5;

/** A container of one dockerode client. */
export function dockerContainer(docker: Docker, id: string, name: string): ContainerHandle {
  const container = docker.getContainer(id);
  let found: Promise<OverlayLayers | undefined> | undefined;
  const layers = (signal?: AbortSignal): Promise<OverlayLayers | undefined> => {
    found ??= inspectLayers(container, signal);
    return found;
  };
  return {
    id,
    name,
    start: (signal) => start(container, signal),
    exec: (spec, signal) => exec(docker, container, spec, signal),
    interact: (spec, signal) => interact(container, spec, signal),
    putArchive: (path, archive, signal) => putArchive(container, path, archive, signal),
    getArchive: (path, signal) => getArchive(container, path, signal),
    async readFolder(path, signal) {
      const known = await layers(signal);
      const direct = known && (await readLayerFolder(known, path));
      if (direct) return direct;
      const archive = await getArchive(container, path, signal);
      return archive && readTar(archive);
    },
    async areEmptyInImage(paths, signal) {
      const known = await layers(signal);
      return (
        known !== undefined &&
        (await Promise.all(paths.map((path) => isEmptyInImage(known, path)))).every(Boolean)
      );
    },
    async changes(exclude, signal) {
      const known = await layers(signal);
      return known ? layerChanges(known, exclude) : changes(container, signal);
    },
    processes: (signal) => processes(container, signal),
    state: (signal) => state(container, signal),
    details: (signal) => details(container, signal),
    pause: () => freezeApart(id, () => setFrozen(container, true)),
    unpause: () => setFrozen(container, false),
    kill: () => kill(container),
    remove: async () => {
      await remove(container);
      forgetContainer(id);
    },
    watchOom: (onOom) => watchOom(docker, id, onOom),
  };
}

async function start(container: Docker.Container, signal?: AbortSignal): Promise<void> {
  try {
    await container.start(withSignal({}, signal));
  } catch (error) {
    throw engineError(error, 'starting a container', 'start-failed', signal);
  }
}

async function exec(
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
          AttachStdin: false,
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
    const options = withSignal({ Detach: false, Tty: false }, signal) as Docker.ExecStartOptions;
    stream = (await startExec(container.id, execution, () =>
      execution.start(options),
    )) as unknown as Readable;
  } catch (error) {
    throw engineError(error, doing, 'exec-failed', signal);
  }
  const result = await followExec(docker, execution, stream, spec, doing, signal);
  forget(container.id, execution);
  return result;
}

async function followExec(
  docker: Docker,
  execution: Docker.Exec,
  stream: Readable,
  spec: ExecSpec,
  doing: string,
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
    if (!drained) throw engineError(error, doing, 'lost', signal);
  } finally {
    ended.abort();
    signal?.removeEventListener('abort', onAbort);
    await watcher;
  }
  if (signal?.aborted) throw new CancelledError();
  const exitCode = await exitCodeOf(execution, doing, signal);
  return { exitCode, stdout: kept.stdout.bytes(), stderr: kept.stderr.bytes() };
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

async function putArchive(
  container: Docker.Container,
  path: string,
  archive: AsyncIterable<Buffer>,
  signal?: AbortSignal,
): Promise<void> {
  let sourceError: unknown;
  const body = toReadable(watchSource(archive, (error) => (sourceError = error)));
  body.on('error', () => undefined);
  try {
    await container.putArchive(body, withSignal({ path }, signal));
  } catch (error) {
    if (sourceError !== undefined) throw sourceError;
    throw engineError(error, `copying files into ${path}`, 'refused', signal);
  } finally {
    body.destroy();
  }
  if (sourceError !== undefined) throw sourceError;
}

async function getArchive(
  container: Docker.Container,
  path: string,
  signal?: AbortSignal,
): Promise<AsyncIterable<Buffer> | undefined> {
  try {
    const stream = (await container.getArchive(withSignal({ path }, signal))) as unknown as Readable;
    return guardedStream(stream, `copying ${path} out`, signal);
  } catch (error) {
    if (statusCode(error) === 404) return undefined;
    throw engineError(error, `copying ${path} out`, 'other', signal);
  }
}

async function* guardedStream(stream: Readable, doing: string, signal?: AbortSignal): AsyncGenerator<Buffer> {
  try {
    yield* stream as AsyncIterable<Buffer>;
  } catch (error) {
    throw engineError(error, doing, 'lost', signal);
  } finally {
    stream.destroy();
  }
}

async function inspectLayers(
  container: Docker.Container,
  signal?: AbortSignal,
): Promise<OverlayLayers | undefined> {
  try {
    return await findLayers((await container.inspect(withSignal({}, signal))) as unknown as InspectedStorage);
  } catch (error) {
    throw engineError(error, 'looking at a container', 'other', signal);
  }
}

async function changes(container: Docker.Container, signal?: AbortSignal): Promise<readonly Change[]> {
  try {
    const list = ((await container.changes(withSignal({}, signal))) ?? []) as unknown as {
      Path: string;
      Kind: number;
    }[];
    return list.map(({ Path, Kind }) => ({ kind: Kind === 1 ? 'A' : Kind === 2 ? 'D' : 'C', path: Path }));
  } catch (error) {
    throw engineError(error, 'listing changed files', 'other', signal);
  }
}

async function processes(container: Docker.Container, signal?: AbortSignal): Promise<string[]> {
  try {
    const top = (await container.top(withSignal({ ps_args: '-eo pid,args' }, signal))) as {
      Processes?: string[][] | null;
    };
    return (top.Processes ?? []).map((row) => row.at(-1) ?? '');
  } catch (error) {
    throw engineError(error, 'listing processes', 'other', signal);
  }
}

async function state(container: Docker.Container, signal?: AbortSignal): Promise<ContainerState> {
  try {
    const { State } = await container.inspect(withSignal({}, signal));
    return { running: State.Running, exitCode: State.ExitCode, oomKilled: State.OOMKilled };
  } catch (error) {
    throw engineError(error, 'looking at a container', 'other', signal);
  }
}

async function details(container: Docker.Container, signal?: AbortSignal): Promise<ContainerDetails> {
  try {
    const { Config, HostConfig, Mounts, State } = await container.inspect(withSignal({}, signal));
    return {
      image: Config.Image,
      labels: Config.Labels ?? {},
      running: State.Running,
      paused: State.Paused,
      network: HostConfig.NetworkMode ?? '',
      mounts: Mounts.map(({ Type, Source, Destination }) => ({
        type: Type ?? '',
        source: Source,
        target: Destination,
      })),
      privileged: HostConfig.Privileged ?? false,
      devices: ((HostConfig.Devices ?? []) as { PathInContainer: string }[]).map(
        ({ PathInContainer }) => PathInContainer,
      ),
    };
  } catch (error) {
    throw engineError(error, 'looking at a container', 'other', signal);
  }
}

async function setFrozen(container: Docker.Container, frozen: boolean): Promise<void> {
  try {
    await (frozen ? container.pause() : container.unpause());
  } catch (error) {
    // Docker refuses with 409 what is so already; a container that does not run is refused with 409 too.
    const { State } = await container.inspect().catch(() => ({ State: undefined }));
    if (State?.Running && State.Paused === frozen) return;
    throw engineError(error, frozen ? 'pausing a container' : 'resuming a container', 'refused');
  }
}

async function kill(container: Docker.Container): Promise<void> {
  try {
    await container.kill();
  } catch (error) {
    // 404: gone, 409: not running (Podman says 500 for both).
    const status = statusCode(error);
    if (status !== 404 && status !== 409 && status !== 500) throw engineError(error, 'stopping a container');
  }
}

/** 404 is done; 409 is "removal already in progress" and is waited for. */
async function remove(container: Docker.Container): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await container.remove({ force: true, v: true });
      return;
    } catch (error) {
      if (statusCode(error) === 404) return;
      if (attempt >= removeAttempts) throw engineError(error, 'removing a container');
      await delay(100 * attempt);
      if (statusCode(error) === 409 && !(await exists(container))) return;
    }
  }
}

async function exists(container: Docker.Container): Promise<boolean> {
  try {
    await container.inspect();
    return true;
  } catch (error) {
    return statusCode(error) !== 404;
  }
}

async function watchOom(docker: Docker, id: string, onOom: () => void): Promise<() => void> {
  let stream: Readable;
  try {
    stream = (await docker.getEvents({
      filters: { container: [id], event: ['oom'] },
    })) as unknown as Readable;
  } catch (error) {
    throw engineError(error, 'watching a container');
  }
  void (async () => {
    try {
      for await (const line of readLines(stream)) if (line.includes('"oom"')) onOom();
    } catch {
      // Closed by us, or the engine went away: whoever waits for the command is told that.
    }
  })();
  return () => stream.destroy();
}

async function* watchSource(
  source: AsyncIterable<Buffer>,
  onError: (error: unknown) => void,
): AsyncGenerator<Buffer> {
  try {
    yield* source;
  } catch (error) {
    onError(error);
    throw error;
  }
}

function withSignal<T extends object>(
  options: T,
  signal: AbortSignal | undefined,
): T & { abortSignal?: AbortSignal } {
  return signal ? { ...options, abortSignal: signal } : options;
}

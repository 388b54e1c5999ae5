import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type Docker from 'dockerode';
import { errorMessage } from '#core/base/errors.ts';
import { linkOf, namedArchive } from './archiveLook.ts';
import { engineError, statusCode } from './dockerErrors.ts';
import type { Change, ContainerDetails, ContainerHandle, ContainerState, EngineInfo } from './engine.ts';
import { execsOf, forgetContainer, freezeApart } from './execStarts.ts';
import { interact } from './interactiveExec.ts';
import {
  findLayers,
  type InspectedStorage,
  layerChanges,
  type OverlayLayers,
  readLayerFolder,
} from './overlayLayers.ts';
import { wasOomKilled } from './podmanOom.ts';
import { runExec } from './runExec.ts';
import { readLines, toReadable } from './streams.ts';
import { takesConnections } from './takesConnections.ts';
import { readTar, writeTar } from './tarStream.ts';
import { withSignal } from './withSignal.ts';

const removeAttempts = 5;
const stopPolls = 100;
const stopPollMs = 100;

/** A container of one dockerode client; `product` is asked where engines differ. */
export function dockerContainer(
  docker: Docker,
  id: string,
  name: string,
  product: () => Promise<EngineInfo['product']>,
): ContainerHandle {
  const container = docker.getContainer(id);
  let found: Promise<OverlayLayers | undefined> | undefined;
  let engineWent = false;
  const layersOf = (signal?: AbortSignal): Promise<OverlayLayers | undefined> => {
    found ??= inspectLayers(container, signal);
    return found;
  };
  const readFolder: ContainerHandle['readFolder'] = async (path, signal) => {
    const layers = await layersOf(signal);
    const direct = layers && (await readLayerFolder(layers, path));
    if (direct) return direct;
    const archive = await getArchive(container, path, product, signal);
    return archive && readTar(archive);
  };
  return {
    id,
    name,
    start: (signal) => start(container, signal),
    exec: (spec, signal) => runExec(docker, container, spec, signal),
    interact: (spec, signal) => interact(container, spec, signal),
    putArchive: (path, archive, signal) => putArchive(container, path, archive, signal),
    getArchive: (path, signal) => getArchive(container, path, product, signal),
    readFolder,
    async changes(exclude, signal) {
      const layers = await layersOf(signal);
      return layers ? layerChanges(layers, exclude) : changes(container, signal);
    },
    processes: async (signal) =>
      processes(container, (await product()) === 'Podman' ? 'pid,args' : '-eo pid,args', signal),
    async state(signal) {
      const known = await state(container, signal);
      if (!known.running || known.oomKilled || (await product()) !== 'Podman') return known;
      return { ...known, oomKilled: await wasOomKilled(docker, container, signal) };
    },
    details: (signal) => details(container, signal),
    pause: () =>
      freezeApart(
        id,
        () => execsOf(docker, container),
        () => setFrozen(container, true),
      ),
    unpause: () => setFrozen(container, false),
    kill: () => kill(container, product),
    remove: async () => {
      await remove(container);
      forgetContainer(id);
    },
    watchOom: (onOom) =>
      watchOom(docker, id, onOom, () => {
        engineWent = true;
      }),
    engineStayed: async () => (await takesConnections(docker)) && !engineWent,
  };
}

async function start(container: Docker.Container, signal?: AbortSignal): Promise<void> {
  try {
    await container.start(withSignal({}, signal));
  } catch (error) {
    throw engineError(error, 'starting a container', 'start-failed', signal);
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
  product: () => Promise<EngineInfo['product']>,
  signal?: AbortSignal,
): Promise<AsyncIterable<Buffer> | undefined> {
  try {
    const stream = (await container.getArchive(withSignal({ path }, signal))) as unknown as IncomingMessage;
    const isPodman = (await product()) === 'Podman';
    const link = isPodman ? linkOf(stream) : undefined;
    if (link) {
      stream.destroy();
      return writeTar([link]);
    }
    if (isPodman) return namedArchive(guardedStream(stream, `copying ${path} out`, signal), path);
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

/** Undefined where they are not at hand. */
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

async function changes(
  container: Docker.Container,
  signal?: AbortSignal,
): Promise<readonly Change[] | undefined> {
  try {
    const list = ((await container.changes(withSignal({}, signal))) ?? []) as unknown as {
      Path: string;
      Kind: number;
    }[];
    return list.map(({ Path, Kind }) => ({ kind: Kind === 1 ? 'A' : Kind === 2 ? 'D' : 'C', path: Path }));
  } catch (error) {
    if (!signal?.aborted && /file name too long/i.test(errorMessage(error))) return undefined;
    throw engineError(error, 'listing changed files', 'other', signal);
  }
}

/** Podman lists by its own names of columns; anything else it has run by the container's `ps`, which may be missing or forged. */
async function processes(
  container: Docker.Container,
  columns: string,
  signal?: AbortSignal,
): Promise<string[]> {
  try {
    const top = (await container.top(withSignal({ ps_args: columns }, signal))) as {
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

async function kill(
  container: Docker.Container,
  product: () => Promise<EngineInfo['product']>,
): Promise<void> {
  try {
    await container.kill();
  } catch (error) {
    // 404: gone, 409: not running. Podman says 500 for both, and Docker says 500 of one that it could not kill.
    const status = statusCode(error);
    if (status === 404 || status === 409 || (status === 500 && (await isStopped(container, product)))) return;
    throw engineError(error, 'stopping a container');
  }
}

/** Podman refuses to kill what another call is just killing; what is copied out of it meanwhile is cut short. */
async function isStopped(
  container: Docker.Container,
  product: () => Promise<EngineInfo['product']>,
): Promise<boolean> {
  const polls = (await product()) === 'Podman' ? stopPolls : 1;
  for (let attempt = 1; attempt <= polls; attempt++) {
    if (!(await isRunning(container))) return true;
    await delay(stopPollMs);
  }
  return false;
}

async function isRunning(container: Docker.Container): Promise<boolean> {
  return container.inspect().then(
    ({ State }) => State.Running,
    (error: unknown) => statusCode(error) !== 404,
  );
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

async function watchOom(
  docker: Docker,
  id: string,
  onOom: () => void,
  onEngineWent: () => void,
): Promise<() => void> {
  let stream: Readable;
  let stopped = false;
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
      // Closed by us, or the engine went away.
    }
    if (!stopped) onEngineWent();
  })();
  return () => {
    stopped = true;
    stream.destroy();
  };
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

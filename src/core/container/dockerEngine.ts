import { randomBytes } from 'node:crypto';
import { statfs } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import type Docker from 'dockerode';
import { errorMessage } from '#core/base/errors.ts';
import { followProgress } from './buildProgress.ts';
import type { Client } from './client.ts';
import { findCredentials, registryOf } from './credentials.ts';
import { dockerContainer } from './dockerContainer.ts';
import { engineError, statusCode } from './dockerErrors.ts';
import {
  type BuildOptions,
  type ContainerEngine,
  type ContainerSpec,
  EngineError,
  type EngineInfo,
  type ImageInfo,
  type LimitName,
  type VolumeMount,
} from './engine.ts';
import { readEngineInfo } from './engineInfo.ts';
import { metadataLabel, noMetadata } from './labels.ts';
import { toReadable } from './streams.ts';

/** A pull starts only with this much room where the engine keeps its images. */
const minFreeBytes = 2 * 1024 ** 3;

/** The engine behind one client. */
export function dockerEngine(client: Client, address: string, env: NodeJS.ProcessEnv): ContainerEngine {
  const { docker } = client;
  const product = async (): Promise<EngineInfo['product']> => (await engine.info()).product;
  let known: Promise<EngineInfo> | undefined;
  const engine: ContainerEngine = {
    info() {
      known ??= readInfo(docker, address);
      // A failed look is not remembered.
      known.catch(() => {
        known = undefined;
      });
      return known;
    },
    inspectImage: (reference, signal) => inspectImage(docker, reference, signal),
    async pullImage(reference, onProgress, signal) {
      await requireDiskSpace(await engine.info(), reference);
      return pullImage(docker, reference, env, onProgress, signal);
    },
    buildImage: (options, signal) => buildImage(docker, options, signal),
    async createContainer(spec, signal) {
      try {
        const created = await docker.createContainer({
          ...createOptions(spec, await engine.info()),
          ...(signal ? { abortSignal: signal } : {}),
        });
        if (typeof created.id !== 'string')
          throw new EngineError('other', 'The engine made a container without telling its id.');
        return dockerContainer(docker, created.id, spec.name, product);
      } catch (error) {
        if (/container-init binary not found/.test(errorMessage(error)))
          throw new EngineError(
            'start-failed',
            'Podman has no init program for containers: install the package "catatonit" where Podman runs.',
            { cause: error },
          );
        const missing = statusCode(error) === 404 ? 'image-missing' : 'start-failed';
        throw engineError(error, 'creating a container', missing, signal);
      }
    },
    async listContainers(label) {
      try {
        const list = await docker.listContainers({ all: true, filters: { label: [label] } });
        return list.map(({ Id, Names, Labels, State }) => ({
          id: Id,
          name: (Names[0] ?? Id).replace(/^\//, ''),
          labels: Labels,
          running: State === 'running' || State === 'paused',
        }));
      } catch (error) {
        throw engineError(error, 'listing containers');
      }
    },
    removeContainer: (id) => dockerContainer(docker, id, id, product).remove(),
    async findContainer(idOrName, signal) {
      try {
        const { Id, Name } = await docker
          .getContainer(idOrName)
          .inspect({ ...(signal ? { abortSignal: signal } : {}) });
        return dockerContainer(docker, Id, Name.replace(/^\//, ''), product);
      } catch (error) {
        if (statusCode(error) === 404) return undefined;
        throw engineError(error, 'looking for a container', 'other', signal);
      }
    },
    async createVolume(name, labels) {
      try {
        await docker.createVolume({ Name: name, Labels: { ...labels } });
      } catch (error) {
        throw engineError(error, 'creating a volume', 'refused');
      }
    },
    async listVolumes(label) {
      try {
        const { Volumes } = await docker.listVolumes({ filters: { label: [label] } });
        return (Volumes ?? []).map(({ Name, Labels }) => ({ name: Name, labels: Labels ?? {} }));
      } catch (error) {
        throw engineError(error, 'listing volumes');
      }
    },
    async removeVolume(name) {
      try {
        await docker.getVolume(name).remove();
      } catch (error) {
        if (statusCode(error) !== 404) throw engineError(error, 'removing a volume', 'refused');
      }
    },
    close: () => client.close(),
  };
  return engine;
}

async function readInfo(docker: Docker, address: string): Promise<EngineInfo> {
  try {
    const [info, version] = await Promise.all([docker.info(), docker.version()]);
    return readEngineInfo(info, version, address);
  } catch (error) {
    throw engineError(error, 'asking for its version', 'unreachable');
  }
}

async function inspectImage(
  docker: Docker,
  reference: string,
  signal?: AbortSignal,
): Promise<ImageInfo | undefined> {
  try {
    const options: object = signal ? { abortSignal: signal } : {};
    const image = await docker.getImage(reference).inspect(options);
    const digest = image.RepoDigests?.[0]?.split('@')[1];
    const metadata = image.Config?.Labels?.[metadataLabel]?.trim();
    return {
      id: image.Id,
      reference,
      ...(digest ? { digest } : {}),
      os: image.Os,
      arch: image.Architecture,
      workdir: image.Config?.WorkingDir || '/',
      user: image.Config?.User ?? '',
      entrypoint: [image.Config?.Entrypoint ?? []].flat(),
      sizeBytes: image.Size,
      ...(metadata && metadata !== noMetadata ? { devcontainerMetadata: metadata } : {}),
    };
  } catch (error) {
    if (statusCode(error) === 404) return undefined;
    throw engineError(error, `looking for the image ${reference}`, 'other', signal);
  }
}

async function pullImage(
  docker: Docker,
  reference: string,
  env: NodeJS.ProcessEnv,
  onProgress: (line: string) => void,
  signal?: AbortSignal,
): Promise<ImageInfo> {
  const auth = await findCredentials(registryOf(reference), env);
  try {
    const stream = (await docker.pull(withDefaultTag(reference), {
      ...(auth ? { authconfig: auth } : {}),
      ...(signal ? { abortSignal: signal } : {}),
    })) as unknown as Readable;
    await followProgress(stream, 'pull-failed', onProgress);
  } catch (error) {
    throw engineError(error, `pulling ${reference}`, 'pull-failed', signal);
  }
  const image = await inspectImage(docker, reference, signal);
  if (!image) throw new EngineError('pull-failed', `The engine pulled ${reference} but has no such image.`);
  return image;
}

async function buildImage(docker: Docker, options: BuildOptions, signal?: AbortSignal): Promise<ImageInfo> {
  let sourceError: unknown;
  const context = toReadable(
    (async function* () {
      try {
        yield* options.context;
      } catch (error) {
        sourceError = error;
        throw error;
      }
    })(),
  );
  context.on('error', () => undefined);
  // Under a name of its own: what two clients build at once would else leave the first one's image without a name.
  const made = `${options.tag}-${randomBytes(6).toString('hex')}`;
  try {
    const stream = await docker.buildImage(context, {
      t: made,
      dockerfile: options.dockerfile,
      labels: { ...options.labels },
      rm: true,
      forcerm: true,
      ...(options.buildKit ? { version: '2' as const } : {}),
      ...(signal ? { abortSignal: signal } : {}),
    });
    await followProgress(stream as unknown as Readable, 'build-failed', options.onProgress);
  } catch (error) {
    throw sourceError ?? engineError(error, `building ${options.tag}`, 'build-failed', signal);
  } finally {
    context.destroy();
  }
  await claimTag(docker, made, options.tag);
  const image = await inspectImage(docker, options.tag, signal);
  if (!image) throw new EngineError('build-failed', `The engine built ${options.tag} but has no such image.`);
  return image;
}

/** Gives a built image its tag, or removes it where another client's build has that meanwhile. */
async function claimTag(docker: Docker, made: string, tag: string): Promise<void> {
  const full = withDefaultTag(tag);
  const colon = full.lastIndexOf(':');
  try {
    if (!(await inspectImage(docker, tag)))
      await docker.getImage(made).tag({ repo: full.slice(0, colon), tag: full.slice(colon + 1) });
    await docker.getImage(made).remove();
  } catch (error) {
    throw engineError(error, `naming the image ${tag}`, 'build-failed');
  }
}

function createOptions(spec: ContainerSpec, engine: EngineInfo): Docker.ContainerCreateOptions {
  const isLimited = (limit: LimitName): boolean => !engine.unenforced.includes(limit);
  const memory = spec.memoryMb === null || !isLimited('memory') ? undefined : spec.memoryMb * 1024 * 1024;
  return {
    name: spec.name,
    Image: spec.image,
    ...(typeof spec.network === 'object' ? { NetworkDisabled: true } : {}),
    Cmd: [...spec.command],
    Labels: { ...spec.labels },
    Env: Object.entries(spec.env ?? {}).map(([key, value]) => `${key}=${value}`),
    ...(spec.workdir === undefined ? {} : { WorkingDir: spec.workdir }),
    HostConfig: {
      ...networkOptions(spec.network),
      ...(spec.cpus === null || !isLimited('cpus') ? {} : { NanoCpus: Math.round(spec.cpus * 1e9) }),
      ...(memory === undefined ? {} : { Memory: memory }),
      ...(isLimited('pids') ? { PidsLimit: spec.pidsLimit } : {}),
      IpcMode: 'private',
      // PID 1's output would fill the host's disk; nothing of it is read.
      LogConfig: { Type: 'none', Config: {} },
      // Podman drops its own configured limits as soon as it is told one.
      ...(engine.product === 'Podman' ? {} : { Ulimits: [{ Name: 'core', Soft: 0, Hard: 0 }] }),
      ...(spec.noSwap && memory !== undefined ? { MemorySwap: memory } : {}),
      ...(spec.capabilities ? { CapDrop: ['ALL'], CapAdd: [...spec.capabilities] } : {}),
      ...(spec.noNewPrivileges ? { SecurityOpt: ['no-new-privileges'] } : {}),
      ...(spec.init ? { Init: true } : {}),
      ...(spec.volumes ? { Mounts: spec.volumes.map(volumeMount) } : {}),
    },
  };
}

function networkOptions(network: ContainerSpec['network']): Docker.HostConfig {
  if (typeof network === 'string') return { NetworkMode: network };
  if (network.ipv6 === undefined) return { NetworkMode: 'none' };
  const value = network.ipv6 ? '0' : '1';
  const names = ['all', 'default', 'lo'].map((name) => [`net.ipv6.conf.${name}.disable_ipv6`, value]);
  return { NetworkMode: 'none', Sysctls: Object.fromEntries(names) as Record<string, string> };
}

function volumeMount({ volume, target, copyFromImage }: VolumeMount): Docker.MountSettings {
  const options = { NoCopy: !copyFromImage, Labels: {}, DriverConfig: { Name: '', Options: {} } };
  return { Type: 'volume', Source: volume, Target: target, VolumeOptions: options };
}

/** Without a tag the Engine API pulls every tag of a repository. */
export function withDefaultTag(reference: string): string {
  const last = reference.slice(reference.lastIndexOf('/') + 1);
  return last.includes(':') || last.includes('@') ? reference : `${reference}:latest`;
}

async function requireDiskSpace(info: EngineInfo, reference: string): Promise<void> {
  let free: number;
  try {
    const { bavail, bsize } = await statfs(info.rootDir);
    free = bavail * bsize;
  } catch {
    return; // Another host's disk, or a virtual machine's: only the engine can know.
  }
  if (free < minFreeBytes) {
    throw new EngineError(
      'disk-full',
      `${reference} is not pulled: only ${Math.floor(free / 1024 ** 2)} MB are free where the engine keeps images.`,
    );
  }
}

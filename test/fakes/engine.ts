import {
  type BuildOptions,
  type ContainerEngine,
  type ContainerHandle,
  type ContainerSpec,
  EngineError,
  type EngineInfo,
  type ExecSpec,
  type ImageInfo,
} from '#core/container/engine.ts';
import type { TarHeader } from '#core/container/tarHeader.ts';
import { collectBody, readTar } from '#core/container/tarStream.ts';
import { FakeContainer } from './engineContainer.ts';

/** What can go wrong, by name; each is one call that fails or hangs as a real engine's does. */
export type FakeFault =
  | 'info-unreachable'
  | 'image-missing'
  | 'pull-fails'
  | 'build-fails'
  | 'build-hangs'
  | 'wrong-platform'
  | 'create-fails'
  | 'start-fails'
  | 'put-fails'
  | 'put-loses-a-file'
  | 'disk-full'
  | 'prepare-fails'
  | 'watch-fails'
  | 'exec-fails'
  | 'exec-stream-ends-early'
  | 'dies'
  | 'stopping'
  | 'out-of-memory'
  | 'kill-fails'
  | 'kill-hangs'
  | 'processes-fail'
  | 'changes-fail'
  | 'get-fails'
  | 'get-is-cut'
  | 'remove-fails'
  | 'remove-hangs';

export interface FakeNode {
  readonly header: TarHeader;
  readonly data: Buffer;
}

/** The files of a container by absolute path, for the scripts of a test. */
export interface FakeFiles {
  read(path: string): string | undefined;
  write(path: string, content: string, header?: Partial<TarHeader>): void;
  remove(path: string): void;
  list(): readonly string[];
}

/** What runs instead of a script: may write files and print; its result is the exit code. */
export type FakeScript = (
  files: FakeFiles,
  print: (text: string) => Promise<void>,
  spec: ExecSpec,
  signal: AbortSignal | undefined,
) => number | Promise<number>;

export interface FakeOptions {
  readonly faults?: readonly FakeFault[];
  /** Runs as /tests/test.sh. */
  readonly test?: FakeScript;
  /** Runs as /solution/solve.sh. */
  readonly solve?: FakeScript;
  /** Files that the image has. */
  readonly image?: Readonly<Record<string, string>>;
  readonly imageInfo?: Partial<ImageInfo>;
  readonly info?: Partial<EngineInfo>;
  /** The image has no tar. */
  readonly noTar?: boolean;
  readonly processes?: readonly string[];
  readonly changes?: readonly { readonly kind: 'C' | 'A' | 'D'; readonly path: string }[];
}

/** An engine in memory that does what grading asks of one, and fails where it is told to. */
export class FakeEngine implements ContainerEngine {
  readonly calls: string[] = [];
  readonly specs: ContainerSpec[] = [];
  readonly execs: ExecSpec[] = [];
  readonly builds: Omit<BuildOptions, 'context' | 'onProgress'>[] = [];
  /** Entries of the last build's context. */
  readonly context = new Map<string, FakeNode>();
  readonly alive = new Map<string, string>();
  readonly options: FakeOptions;
  readonly #images = new Set<string>();
  readonly #containers: FakeContainer[] = [];

  constructor(options: FakeOptions = {}) {
    this.options = options;
  }

  has(fault: FakeFault): boolean {
    return this.options.faults?.includes(fault) ?? false;
  }

  fail(fault: FakeFault, error: () => Error): void {
    if (this.has(fault)) throw error();
  }

  info(): Promise<EngineInfo> {
    if (this.has('info-unreachable'))
      return Promise.reject(new EngineError('unreachable', 'The engine does not answer (ECONNREFUSED).'));
    return Promise.resolve({
      id: '',
      version: '20.10.24',
      os: 'linux',
      arch: 'amd64',
      cpus: 2,
      memoryBytes: 4 * 1024 ** 3,
      address: 'fake:',
      rootDir: '/nowhere',
      buildKit: false,
      product: 'Docker',
      rootless: false,
      cgroup: 2,
      unenforced: [],
      ...this.options.info,
    });
  }

  async inspectImage(reference: string): Promise<ImageInfo | undefined> {
    this.calls.push('inspectImage');
    if (this.has('image-missing') || this.has('pull-fails')) return undefined;
    return this.#images.has(reference) || !reference.startsWith('e2e-swe/')
      ? this.#image(reference)
      : undefined;
  }

  async pullImage(reference: string, onProgress: (line: string) => void): Promise<ImageInfo> {
    this.calls.push('pullImage');
    onProgress('Pulling');
    this.fail('image-missing', () => new EngineError('pull-failed', `manifest for ${reference} not found`));
    this.fail('pull-fails', () => new EngineError('pull-failed', 'lookup registry: no such host'));
    return this.#image(reference);
  }

  async buildImage(options: BuildOptions, signal?: AbortSignal): Promise<ImageInfo> {
    this.calls.push('buildImage');
    const { context, onProgress, ...rest } = options;
    this.builds.push(rest);
    for await (const { header, body } of readTar(context))
      this.context.set(header.name, { header, data: (await collectBody(body, 1 << 30)) as Buffer });
    onProgress('Step 1/1');
    this.fail('build-fails', () => new EngineError('build-failed', 'exit code: 7\nno such package'));
    this.fail('disk-full', () => new EngineError('disk-full', "The engine's disk is full (building)."));
    if (this.has('build-hangs')) await untilAborted(signal);
    this.#images.add(options.tag);
    return this.#image(options.tag);
  }

  async createContainer(spec: ContainerSpec): Promise<ContainerHandle> {
    this.calls.push('create');
    this.fail('create-fails', () => new EngineError('start-failed', 'Conflict. The name is in use.'));
    this.specs.push(spec);
    const id = `id-${this.specs.length}`;
    this.alive.set(id, spec.name);
    const container = new FakeContainer(this, id, spec.name);
    this.#containers.push(container);
    return container;
  }

  /** What a container does whose first process ends. */
  stopContainers(): void {
    for (const container of this.#containers) container.stop();
  }

  listContainers(): Promise<[]> {
    return Promise.resolve([]);
  }

  async removeContainer(id: string): Promise<void> {
    this.alive.delete(id);
  }

  async findContainer(idOrName: string): Promise<ContainerHandle | undefined> {
    return this.#containers.find(
      ({ id, name }) => this.alive.has(id) && (id === idOrName || name === idOrName),
    );
  }

  async createVolume(): Promise<void> {}

  listVolumes(): Promise<[]> {
    return Promise.resolve([]);
  }

  async removeVolume(): Promise<void> {}

  close(): void {
    this.calls.push('close');
  }

  #image(reference: string): ImageInfo {
    return {
      id: 'sha256:f00d',
      reference,
      os: this.has('wrong-platform') ? 'windows' : 'linux',
      arch: 'amd64',
      workdir: '/app',
      user: '',
      entrypoint: [],
      sizeBytes: 1,
      ...(this.options.imageInfo as object),
    };
  }
}

function untilAborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    signal?.addEventListener('abort', () => reject(new DOMException('Aborted', 'AbortError')), {
      once: true,
    });
  });
}

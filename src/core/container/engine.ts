import type { Duplex } from 'node:stream';
import type { BareNetwork } from './bareNetwork.ts';
import type { TarEntry } from './tarStream.ts';

/**
 * The container engine as the rest of core sees it: the few verbs that we use, shaped by their callers.
 * `dockerEngine.ts` implements it; nothing outside this room knows dockerode.
 */

export interface EngineInfo {
  /** Tells engines apart; empty where it does not say. */
  readonly id: string;
  readonly product: 'Docker' | 'Podman';
  readonly version: string;
  /** Go's names: `linux`, `windows`. */
  readonly os: string;
  /** Go's names: `amd64`, `arm64`. */
  readonly arch: string;
  readonly cpus: number;
  readonly memoryBytes: number;
  /** Where it was found, for people: `unix:///var/run/docker.sock`. */
  readonly address: string;
  /** Where it keeps images, as its own host names it. */
  readonly rootDir: string;
  /** True when the engine itself prefers BuildKit. */
  readonly buildKit: boolean;
  /** It runs as a user who is not root. */
  readonly rootless: boolean;
  /** Of the kernel's control groups; null where it does not say. */
  readonly cgroup: 1 | 2 | null;
  /** Limits that it cannot enforce: they are left out of what it is asked. */
  readonly unenforced: readonly LimitName[];
}

/** A limit of a container. */
export type LimitName = 'cpus' | 'memory' | 'pids';

export interface ImageInfo {
  /** `sha256:…` of the configuration. */
  readonly id: string;
  readonly reference: string;
  /** `sha256:…` of the registry's manifest, where the image came from a registry. */
  readonly digest?: string;
  readonly os: string;
  readonly arch: string;
  readonly workdir: string;
  readonly user: string;
  /** Runs in front of every command; empty when there is none. */
  readonly entrypoint: readonly string[];
  readonly sizeBytes: number;
  /** Its label `devcontainer.metadata`, where that is there and not empty: dev container tools obey it. */
  readonly devcontainerMetadata?: string;
}

export interface ContainerSpec {
  readonly name: string;
  readonly image: string;
  readonly command: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly workdir?: string;
  /** `none`: a network namespace of its own with a loopback only; `bridge`: the engine's default network. */
  readonly network: 'none' | 'bridge' | BareNetwork;
  readonly cpus: number | null;
  readonly memoryMb: number | null;
  readonly pidsLimit: number;
  /** Named volumes, each at an absolute path. */
  readonly volumes?: readonly VolumeMount[];
  /** The only capabilities that it gets (`CHOWN`); without, the engine's default set. */
  readonly capabilities?: readonly string[];
  /** No process gains privileges by setuid files. */
  readonly noNewPrivileges?: boolean;
  /** The engine's own init is PID 1: it reaps what is left behind and ends on SIGTERM. */
  readonly init?: boolean;
  /** Swap counts as memory: the limit is the sum of both. */
  readonly noSwap?: boolean;
}

export interface VolumeMount {
  readonly volume: string;
  readonly target: string;
  /** An empty volume gets what the image has at the target, its owner and mode too. */
  readonly copyFromImage: boolean;
}

export interface ListedVolume {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** A command that is written to while it runs. */
export interface InteractiveSpec {
  readonly command: readonly string[];
  /** With a terminal the stream is raw; without, its output comes in frames (`readFrames`). */
  readonly tty: boolean;
  readonly user?: string;
  readonly workdir?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export interface InteractiveExec {
  /** Written: its input; ended: the end of its input. Destroying it does not end the command (fs-channel.md §4). */
  readonly stream: Duplex;
  /** Sets a terminal's size. Rejects when the command is over. */
  resize(cols: number, rows: number): Promise<void>;
  /** Of a command whose stream ended. */
  exitCode(signal?: AbortSignal): Promise<number>;
}

export interface ExecSpec {
  readonly command: readonly string[];
  readonly user?: string;
  readonly workdir?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Gets every piece of output as it comes; awaited, so a slow reader slows the writer. */
  readonly onOutput?: (data: Buffer, stream: 'stdout' | 'stderr') => void | Promise<void>;
  /** Bytes of each stream kept in the result; the rest is only passed to `onOutput`. Default 1 MiB. */
  readonly keepBytes?: number;
  /**
   * Written to the command's input, which stays open: the command must know where it ends, since not every connection
   * can be ended on one side (named pipes). What it leaves unread is dropped. Without, it has no input.
   */
  readonly input?: AsyncIterable<Buffer>;
}

export interface ExecResult {
  readonly exitCode: number;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
}

export interface ContainerState {
  readonly running: boolean;
  readonly exitCode: number;
  readonly oomKilled: boolean;
}

/** What the engine says that a container is and has. */
export interface ContainerDetails {
  readonly image: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly running: boolean;
  readonly paused: boolean;
  readonly network: string;
  readonly mounts: readonly { readonly type: string; readonly source: string; readonly target: string }[];
  readonly privileged: boolean;
  readonly devices: readonly string[];
}

/** A path that differs from the image: changed, added or deleted. */
export interface Change {
  readonly kind: 'C' | 'A' | 'D';
  readonly path: string;
}

export interface ContainerHandle {
  readonly id: string;
  readonly name: string;
  start(signal?: AbortSignal): Promise<void>;
  /** Runs a command to its end. Rejects with `EngineError` when the stream ends but the command's end is unknown. */
  exec(spec: ExecSpec, signal?: AbortSignal): Promise<ExecResult>;
  /** Starts a command and hands over its streams; it may outlive them. */
  interact(spec: InteractiveSpec, signal?: AbortSignal): Promise<InteractiveExec>;
  /** Unpacks an archive at a folder that exists. */
  putArchive(path: string, archive: AsyncIterable<Buffer>, signal?: AbortSignal): Promise<void>;
  /** The archive of a file or folder; undefined when there is none. Names start with the path's last component. */
  getArchive(path: string, signal?: AbortSignal): Promise<AsyncIterable<Buffer> | undefined>;
  /**
   * A folder that the container itself made or filled, once nothing runs in it any more; entries as in its archive.
   * Undefined when there is no such folder.
   */
  readFolder(path: string, signal?: AbortSignal): Promise<AsyncIterable<TarEntry> | undefined>;
  /**
   * Paths that differ from the image, once nothing runs any more; what is excluded (paths, with all below) need not be
   * looked at. Undefined where the engine cannot list them: a path in there is longer than its host can open.
   */
  changes(exclude: readonly string[], signal?: AbortSignal): Promise<readonly Change[] | undefined>;
  /** Command lines of the processes inside. */
  processes(signal?: AbortSignal): Promise<readonly string[]>;
  state(signal?: AbortSignal): Promise<ContainerState>;
  details(signal?: AbortSignal): Promise<ContainerDetails>;
  /** Freezes every process; no error when they are frozen. */
  pause(): Promise<void>;
  /** Thaws every process; no error when none is frozen. */
  unpause(): Promise<void>;
  /** Ends every process at once; no error when none runs. */
  kill(): Promise<void>;
  /** Removes it with its anonymous volumes; no error when it is gone. */
  remove(): Promise<void>;
  /** Calls back once when the kernel killed something in it for want of memory. The result unsubscribes. */
  watchOom(onOom: () => void): Promise<() => void>;
  /** False when the engine is going, or went since `watchOom`, though it may be back: what ended a command may have been that. */
  engineStayed(): Promise<boolean>;
}

export interface BuildOptions {
  readonly tag: string;
  readonly context: AsyncIterable<Buffer>;
  readonly dockerfile: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly buildKit: boolean;
  readonly onProgress: (line: string) => void;
}

export interface ListedContainer {
  readonly id: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Frozen ones too. */
  readonly running: boolean;
}

export interface ContainerEngine {
  info(): Promise<EngineInfo>;
  /** Undefined when the engine has no such image. */
  inspectImage(reference: string, signal?: AbortSignal): Promise<ImageInfo | undefined>;
  pullImage(reference: string, onProgress: (line: string) => void, signal?: AbortSignal): Promise<ImageInfo>;
  buildImage(options: BuildOptions, signal?: AbortSignal): Promise<ImageInfo>;
  createContainer(spec: ContainerSpec, signal?: AbortSignal): Promise<ContainerHandle>;
  /** Containers that carry a label, stopped ones too. */
  listContainers(label: string): Promise<readonly ListedContainer[]>;
  removeContainer(id: string): Promise<void>;
  /** By id or name; undefined when there is none. */
  findContainer(idOrName: string, signal?: AbortSignal): Promise<ContainerHandle | undefined>;
  /** Makes a named volume; one of that name is left as it is. */
  createVolume(name: string, labels: Readonly<Record<string, string>>): Promise<void>;
  /** Volumes that carry a label. */
  listVolumes(label: string): Promise<readonly ListedVolume[]>;
  /** No error when it is gone. Rejects while a container, stopped or not, has it. */
  removeVolume(name: string): Promise<void>;
  close(): void;
}

/** Why an engine call failed, as far as it matters to a verdict. */
export type EngineFailure =
  | 'unreachable'
  | 'lost'
  | 'image-missing'
  | 'pull-failed'
  | 'build-failed'
  | 'disk-full'
  | 'not-found'
  | 'start-failed'
  | 'refused'
  | 'exec-failed'
  | 'other';

/** A failure of the engine, never of what runs in it. */
export class EngineError extends Error {
  override readonly name = 'EngineError';
  readonly failure: EngineFailure;

  constructor(failure: EngineFailure, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.failure = failure;
  }
}

import {
  type ContainerDetails,
  type ContainerHandle,
  EngineError,
  type ExecResult,
  type ExecSpec,
} from '#core/container/engine.ts';
import type { TarHeader } from '#core/container/tarHeader.ts';
import { bodyOf, collectBody, readTar, type TarEntry, writeTar } from '#core/container/tarStream.ts';
import type { FakeEngine, FakeFiles, FakeNode, FakeScript } from './engine.ts';

/** A container in memory; its scripts are the functions that the engine was given. */
export class FakeContainer implements ContainerHandle {
  readonly id: string;
  readonly name: string;
  readonly #engine: FakeEngine;
  readonly #nodes = new Map<string, FakeNode>();
  #running = false;
  #onOom: (() => void) | undefined;
  #killed: (() => void)[] = [];

  constructor(engine: FakeEngine, id: string, name: string) {
    this.#engine = engine;
    this.id = id;
    this.name = name;
    for (const [path, content] of Object.entries(engine.options.image ?? {}))
      this.#files.write(path, content);
  }

  readonly #files: FakeFiles = {
    read: (path) => this.#nodes.get(path)?.data.toString(),
    write: (path, content, part) => {
      const data = Buffer.from(content);
      this.#add(path, { header: { ...plainHeader(path), size: data.length, ...part }, data });
    },
    remove: (path) => {
      for (const name of [...this.#nodes.keys()]) if (isAt(name, path)) this.#nodes.delete(name);
    },
    list: () => [...this.#nodes.keys()].sort(),
  };

  async start(): Promise<void> {
    this.#engine.calls.push('start');
    this.#engine.fail('start-fails', () => new EngineError('start-failed', 'sh: executable file not found'));
    this.#running = true;
  }

  async exec(spec: ExecSpec, signal?: AbortSignal): Promise<ExecResult> {
    const text = spec.command.join('\n');
    this.#engine.execs.push(spec);
    this.#engine.calls.push(`exec ${text.slice(0, 20).trim()}`);
    if (!this.#running) throw new EngineError('exec-failed', 'The container is not running.');
    const out = { stdout: '', stderr: '' };
    const paths = spec.command.slice(3).filter((argument) => argument.startsWith('/'));
    let exitCode = 0;
    if (text.includes('prepare')) {
      if (this.#engine.has('prepare-fails')) return result(127, '', 'sh: mkdir: not found');
      for (const path of [...paths, '/logs/verifier']) {
        this.#files.remove(path);
        this.#addFolder(path);
      }
    }
    if (spec.input) {
      if (this.#engine.options.noTar) return result(1, '', '');
      const unpacked = this.#unpack('/', joined(spec.input));
      if (!(await unpacked.then(() => true, rethrowSource))) return result(1, '', '');
      const mark = `/logs/verifier/.arrived-${spec.command[4]}`;
      if (!this.#nodes.has(mark)) return result(1, '', '');
      this.#files.remove(mark);
      await spec.onOutput?.(Buffer.from('copied\n'), 'stderr');
    }
    if (text.includes('-printf')) {
      out.stdout = `${this.#listing(paths)}\0`;
      out.stderr = `${this.#nodes.has('/tests/test.sh') ? 'script\n' : ''}failed connect: Network is unreachable\nlooked\n`;
      if (spec.onOutput) {
        await spec.onOutput(Buffer.from(out.stdout, 'latin1'), 'stdout');
        await spec.onOutput(Buffer.from(out.stderr), 'stderr');
      }
    }
    if (text.includes('id -u')) out.stdout = '1000\n1001\n';
    if (text.includes('(/tests/test.sh)')) {
      if (!this.#nodes.has('/tests/test.sh')) return result(127, out.stdout, out.stderr);
      exitCode = await this.#runTests(spec, signal);
    } else if (text.includes('(/solution/solve.sh)')) {
      const print = (line: string) => Promise.resolve(spec.onOutput?.(Buffer.from(line), 'stdout'));
      exitCode = await (this.#engine.options.solve ?? (() => 0))(this.#files, print, spec, signal);
    }
    return result(exitCode, out.stdout, out.stderr);
  }

  async #runTests(spec: ExecSpec, signal: AbortSignal | undefined): Promise<number> {
    const engine = this.#engine;
    engine.fail('exec-fails', () => new EngineError('exec-failed', 'OCI runtime exec failed'));
    engine.fail('exec-stream-ends-early', () => new EngineError('lost', 'The engine went away.'));
    if (engine.has('out-of-memory')) {
      this.#onOom?.();
      return 137;
    }
    if (engine.has('dies')) {
      this.#running = false;
      return 137;
    }
    let log = '';
    const print = async (text: string): Promise<void> => {
      log += text;
      this.#files.write('/logs/verifier/test-stdout.txt', log);
    };
    await print('');
    const killed = new Promise<number>((resolve) => {
      this.#killed.push(() => resolve(137));
      signal?.addEventListener('abort', () => resolve(137), { once: true });
    });
    return Promise.race([(engine.options.test ?? passing)(this.#files, print, spec, signal), killed]);
  }

  async putArchive(path: string, archive: AsyncIterable<Buffer>): Promise<void> {
    this.#engine.calls.push('put');
    await this.#unpack(path, archive);
  }

  async #unpack(path: string, archive: AsyncIterable<Buffer>): Promise<void> {
    let first = true;
    for await (const { header, body } of readTar(archive)) {
      const data = (await collectBody(body, 1 << 30)) as Buffer;
      this.#engine.fail('put-fails', () => new EngineError('refused', 'Error processing tar file'));
      this.#engine.fail('disk-full', () => new EngineError('disk-full', "The engine's disk is full."));
      if (first && header.type === 'file' && this.#engine.has('put-loses-a-file')) {
        first = false;
        continue;
      }
      this.#add(`${path === '/' ? '' : path}/${header.name}`, { header, data });
    }
  }

  async getArchive(path: string): Promise<AsyncIterable<Buffer> | undefined> {
    this.#engine.calls.push(`get ${path}`);
    this.#engine.fail('get-fails', () => new EngineError('other', 'Could not read the folder.'));
    const names = this.#files.list().filter((name) => isAt(name, path));
    if (names.length === 0) return undefined;
    const cut = path.lastIndexOf('/') + 1;
    const entries = names.map((name): TarEntry => {
      const { header, data } = this.#nodes.get(name) as FakeNode;
      return { header: { ...header, name: name.slice(cut) }, body: bodyOf(data) };
    });
    return this.#engine.has('get-is-cut') ? cutShort(writeTar(entries)) : writeTar(entries);
  }

  async readFolder(path: string): Promise<AsyncIterable<TarEntry> | undefined> {
    const archive = await this.getArchive(path);
    return archive && readTar(archive);
  }

  async changes(): Promise<readonly { kind: 'C' | 'A' | 'D'; path: string }[]> {
    this.#engine.calls.push('changes');
    this.#engine.fail('changes-fail', () => new EngineError('other', 'No such layer.'));
    return this.#engine.options.changes ?? [];
  }

  async processes(): Promise<readonly string[]> {
    this.#engine.fail('processes-fail', () => new EngineError('other', 'ps: not found'));
    return ['sleep infinity', ...(this.#engine.options.processes ?? [])];
  }

  async state(): Promise<{ running: boolean; exitCode: number; oomKilled: boolean }> {
    return { running: this.#running, exitCode: this.#running ? 0 : 137, oomKilled: false };
  }

  interact(): Promise<never> {
    return Promise.reject(new EngineError('exec-failed', 'The fake has no interactive commands.'));
  }

  async details(): Promise<ContainerDetails> {
    return {
      image: 'fake',
      labels: {},
      running: this.#running,
      paused: false,
      network: 'none',
      mounts: [],
      privileged: false,
      devices: [],
    };
  }

  async pause(): Promise<void> {}

  async unpause(): Promise<void> {}

  async kill(): Promise<void> {
    this.#engine.calls.push('kill');
    this.#engine.fail(
      'kill-fails',
      () => new EngineError('other', 'cannot kill container: permission denied'),
    );
    if (this.#engine.has('kill-hangs')) await new Promise(() => undefined);
    await new Promise((resolve) => setImmediate(resolve));
    this.#engine.calls.push('killed');
    this.#running = false;
    for (const end of this.#killed.splice(0)) end();
  }

  stop(): void {
    this.#running = false;
  }

  async remove(): Promise<void> {
    this.#engine.calls.push('remove');
    this.#engine.fail('remove-fails', () => new EngineError('other', 'device or resource busy'));
    if (this.#engine.has('remove-hangs')) await new Promise(() => undefined);
    this.#engine.alive.delete(this.id);
  }

  async watchOom(onOom: () => void): Promise<() => void> {
    this.#engine.fail('watch-fails', () => new EngineError('lost', 'The engine went away while watching.'));
    this.#onOom = onOom;
    return () => {
      this.#onOom = undefined;
    };
  }

  async engineStayed(): Promise<boolean> {
    return !this.#engine.has('stopping');
  }

  #add(path: string, node: FakeNode): void {
    const parent = path.slice(0, path.lastIndexOf('/'));
    if (parent && !this.#nodes.has(parent)) this.#addFolder(parent);
    this.#nodes.set(path, node);
  }

  #addFolder(path: string): void {
    this.#add(path, {
      header: { ...plainHeader(path), type: 'directory', mode: 0o755 },
      data: Buffer.alloc(0),
    });
  }

  /** As GNU find prints it with the format that the look asks for. */
  #listing(roots: readonly string[]): string {
    const letter = { directory: 'd', symlink: 'l' } as Readonly<Record<string, string>>;
    return this.#files
      .list()
      .filter((name) => roots.some((root) => isAt(name, root)))
      .map((name) => {
        const { header, data } = this.#nodes.get(name) as FakeNode;
        const type = letter[header.type] ?? 'f';
        return `${type}\t${header.mode.toString(8)}\t${data.length}\t${header.mtime}.0\t${header.linkName}\0${name}\0`;
      })
      .join('');
  }
}

const passing: FakeScript = (files) => {
  files.write('/logs/verifier/reward.txt', '1\n');
  return 0;
};

function plainHeader(path: string): TarHeader {
  return {
    name: path.slice(1),
    type: 'file',
    mode: 0o644,
    uid: 0,
    gid: 0,
    size: 0,
    mtime: 1_700_000_000,
    linkName: '',
    devMajor: 0,
    devMinor: 0,
    flag: '',
  };
}

function isAt(name: string, root: string): boolean {
  return name === root || name.startsWith(`${root}/`);
}

/** The pieces of an input without their sizes. */
async function* joined(input: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let rest = Buffer.alloc(0);
  for await (const chunk of input) {
    rest = Buffer.concat([rest, chunk]);
    for (;;) {
      const line = rest.indexOf(10);
      const size = line === -1 ? Number.NaN : Number(rest.toString('latin1', 0, line));
      if (size === 0) return;
      if (!(rest.length > line + size)) break;
      yield rest.subarray(line + 1, line + 1 + size);
      rest = rest.subarray(line + 1 + size);
    }
  }
}

/** What tar cannot unpack ends tar; what the sender cannot send ends the exec. */
function rethrowSource(error: unknown): boolean {
  if (error instanceof EngineError) return false;
  throw error;
}

function result(exitCode: number, stdout: string, stderr: string): ExecResult {
  return { exitCode, stdout: Buffer.from(stdout, 'latin1'), stderr: Buffer.from(stderr) };
}

async function* cutShort(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const chunk of source) {
    yield chunk;
    return;
  }
}

import { createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { isDiskFull } from '#core/base/errors.ts';
import type { ContainerHandle } from '#core/container/engine.ts';
import { Tail } from '#core/container/streams.ts';
import { fromBinary, type TarHeader } from '#core/container/tarHeader.ts';
import type { TarEntry } from '#core/container/tarStream.ts';
import type { Mark } from '#core/report/types.ts';

/** Bytes kept of test-stdout.txt; of a longer one its beginning. */
const logCap = 1536 * 1024 ** 2;
/** Bytes kept of another file that decides nothing, and of all of them. */
const fileCap = 256 * 1024 ** 2;
const folderCap = 1024 ** 3;
const filesCap = 20_000;
/** Bytes of files that are not kept which the engine may send all the same: an archive cannot be skipped in. */
const passedCap = 4 * 1024 ** 3;
/** Marks of one rule: one more says nothing more. */
const maxMarks = 5;
/** Bytes of a report that is read into memory, and of all of them. */
const readCap = 256 * 1024 ** 2;
const readTotalCap = 512 * 1024 ** 2;
/** Bytes of a reward; of a longer one only the beginning is read. */
const rewardCap = 16 * 1024 ** 2;
/** Levels of folders, and characters of a path, of what is kept. */
const maxDepth = 32;
const maxPathLength = 1024;
/** Bytes kept of the end of test-stdout.txt, for messages and markers. */
const tailCap = 1024 ** 2;
/** Bytes kept of its beginning, where phases and failed fetches are told. */
const headCap = 256 * 1024;

const rewardNames = ['reward.json', 'reward.txt'];
const logName = 'test-stdout.txt';
/** Read even where everything else is too much: no heap of files may hide it. */
const deciding = [...rewardNames, 'ctrf.json', logName];

export interface Collected {
  /** Reports and rewards, by name in /logs/verifier. */
  readonly files: ReadonlyMap<string, Buffer>;
  /** The beginning of test-stdout.txt where it is longer than its tail, else empty. */
  readonly outputHead: string;
  /** The end of test-stdout.txt, as far as that was read. */
  readonly outputTail: string;
  readonly marks: readonly Mark[];
}

/** Copies /logs/verifier to the host: regular files only, plain names only, capped; links and devices are marked, never followed. */
export async function collectVerifierFolder(
  container: ContainerHandle,
  dir: string,
  signal: AbortSignal,
): Promise<Collected> {
  await mkdir(dir, { recursive: true });
  const collector = new Collector(dir);
  const entries = await container.readFolder('/logs/verifier', signal);
  if (!entries) collector.mark('verifier-folder-gone', 'The tests removed /logs/verifier.');
  else await collector.takeAll(entries);
  // The log's name is the last of them: without it the end was not reached. Podman's archive ends at a path too long for it.
  if (entries && !collector.seen.has(logName))
    for (const name of deciding.filter((wanted) => !collector.seen.has(wanted)))
      await collector.takeOne(name, await container.readFolder(`/logs/verifier/${name}`, signal));
  return collector;
}

class Collector implements Collected {
  readonly files = new Map<string, Buffer>();
  readonly marks: Mark[] = [];
  readonly seen = new Set<string>();
  outputHead = '';
  outputTail = '';
  readonly #dir: string;
  /** Name in the archive, without the folder's, to the file on this host. */
  readonly #written = new Map<string, string>();
  #total = 0;
  #inMemory = 0;
  #passed = 0;

  constructor(dir: string) {
    this.#dir = dir;
  }

  mark(rule: string, message: string): void {
    if (this.marks.filter((known) => known.rule === rule).length < maxMarks)
      this.marks.push({ rule, message });
  }

  /** Stops before the end where what is not kept has no end in sight. */
  async takeAll(entries: AsyncIterable<TarEntry>): Promise<void> {
    for await (const { header, body } of entries) {
      await this.#take(withoutFolder(header.name), header, body);
      if (this.#passed <= passedCap) continue;
      this.mark(
        'results-not-listed',
        `/logs/verifier holds too much: of what comes behind ${JSON.stringify(withoutFolder(header.name).slice(0, 100))} only what decides was looked for.`,
      );
      return;
    }
  }

  /** A file by itself. */
  async takeOne(name: string, entries: AsyncIterable<TarEntry> | undefined): Promise<void> {
    for await (const { header, body } of entries ?? []) {
      await this.#take(name, header, body);
      return;
    }
  }

  async #take(relative: string, header: TarHeader, body: AsyncIterable<Buffer>): Promise<void> {
    this.seen.add(relative);
    const isReward = rewardNames.includes(relative);
    if (header.type === 'directory' && !isReward) return;
    // A second name of a file is a file; it was written under its first one.
    const first = header.type === 'hardlink' ? this.#written.get(withoutFolder(header.linkName)) : undefined;
    if (header.type !== 'file' && first === undefined) {
      this.mark(
        'result-not-a-file',
        `${path.posix.join('/logs/verifier', relative)} is a ${header.type}, not a file; it was not read.`,
      );
      return;
    }
    const size = first === undefined ? header.size : (await stat(first)).size;
    const target = safeTarget(this.#dir, relative);
    if (target === undefined) {
      this.#passed += size;
      this.mark(
        'result-odd-name',
        `A file of /logs/verifier has a name that is not kept: ${JSON.stringify(relative.slice(0, 100))}.`,
      );
      return;
    }
    const decides = deciding.includes(relative);
    const isReport = /\.json$/.test(relative) && !isReward;
    if (!decides && (size > fileCap || this.#total + size > folderCap || this.#written.size >= filesCap)) {
      this.#passed += size;
      this.mark(
        'result-too-large',
        `/logs/verifier/${relative} (${size} bytes, file ${this.#written.size + 1}) was not kept.`,
      );
      // A report's beginning is no report, but tells that there is one.
      if (isReport) this.files.set(relative, await beginningOf(body));
      return;
    }
    if (!decides) this.#total += size;
    const wanted = isReward
      ? size <= rewardCap
      : isReport && size <= readCap && (decides || this.#inMemory + size <= readTotalCap);
    const cap = isReward ? rewardCap : relative === logName ? logCap : readCap;
    const source = first ? createReadStream(first) : body;
    const { data, head, tail, isKept } = await writeBody(target, source, wanted, cap);
    this.#passed += Math.max(0, size - cap);
    this.#tellCut(relative, size, { isKept, cap, isRead: data !== undefined || !(isReward || isReport) });
    if (data) this.#inMemory += size;
    if (isReward || isReport) this.files.set(relative, data ?? head);
    if (isKept) this.#written.set(relative, target);
    if (relative === logName) {
      this.outputHead = size > tailCap ? head.toString('utf8') : '';
      this.outputTail = tail.toString('utf8');
    }
  }

  #tellCut(
    relative: string,
    size: number,
    { isKept, cap, isRead }: { isKept: boolean; cap: number; isRead: boolean },
  ): void {
    const what = `/logs/verifier/${relative} (${size} bytes)`;
    if (!isKept)
      this.mark('result-not-kept', `${what} was read but not kept: the disk that holds the grades is full.`);
    if (!isRead) this.mark('result-too-large', `${what} is too large to be read.`);
    else if (size > cap) this.mark('result-too-large', `Of ${what} only the first ${cap} bytes were kept.`);
  }
}

interface WrittenBody {
  /** Where it was to be read. */
  readonly data: Buffer | undefined;
  readonly head: Buffer;
  readonly tail: Buffer;
  /** False where the disk is full: what a submission writes must not keep a grade from being made. */
  readonly isKept: boolean;
}

async function beginningOf(body: AsyncIterable<Buffer>): Promise<Buffer> {
  for await (const chunk of body) return Buffer.from(chunk.subarray(0, headCap));
  return Buffer.alloc(0);
}

/** Writes and reads at most `cap` bytes of it. */
async function writeBody(
  target: string,
  body: AsyncIterable<Buffer>,
  keep: boolean,
  cap: number,
): Promise<WrittenBody> {
  let handle = await openUnlessFull(target);
  const kept: Buffer[] = [];
  const tail = new Tail(tailCap);
  let head = Buffer.alloc(0);
  try {
    let left = cap;
    for await (const piece of body) {
      const chunk = piece.length > left ? piece.subarray(0, left) : piece;
      left -= chunk.length;
      if (handle && !(await writeUnlessFull(handle, chunk))) {
        await handle.close();
        handle = undefined;
        await rm(target);
      }
      if (keep) kept.push(Buffer.from(chunk));
      if (head.length < headCap) head = Buffer.concat([head, chunk.subarray(0, headCap - head.length)]);
      tail.write(chunk);
      if (left === 0) break;
    }
  } finally {
    await handle?.close();
  }
  return {
    data: keep ? Buffer.concat(kept) : undefined,
    head,
    tail: tail.bytes(),
    isKept: handle !== undefined,
  };
}

async function openUnlessFull(target: string): Promise<FileHandle | undefined> {
  try {
    await mkdir(path.dirname(target), { recursive: true });
    return await open(target, 'w');
  } catch (error) {
    if (isDiskFull(error)) return undefined;
    throw error;
  }
}

async function writeUnlessFull(handle: FileHandle, chunk: Buffer): Promise<boolean> {
  try {
    await handle.appendFile(chunk);
    return true;
  } catch (error) {
    if (isDiskFull(error)) return false;
    throw error;
  }
}

/** A name of the archive without its first part, the folder's own. */
function withoutFolder(name: string): string {
  return fromBinary(name).split('/').slice(1).join('/');
}

/** A path below `dir` for a name that is safe on every host; undefined for one that is not. */
function safeTarget(dir: string, relative: string): string | undefined {
  const parts = relative.split('/');
  const odd = (part: string): boolean =>
    part === '' ||
    part === '.' ||
    part === '..' ||
    part.length > 200 ||
    [...part].some((c) => c < ' ' || '<>:"|?*\\'.includes(c)) ||
    /[. ]$/.test(part);
  if (relative.length > maxPathLength || parts.length > maxDepth || parts.some(odd)) return undefined;
  return path.join(dir, ...parts);
}

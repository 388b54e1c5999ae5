import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { errorCode } from '#core/base/errors.ts';
import type { ContainerHandle } from '#core/container/engine.ts';
import { walkFolder } from '#core/container/folderTar.ts';
import { Tail } from '#core/container/streams.ts';
import { fromBinary } from '#core/container/tarHeader.ts';
import type { Mark } from '#core/report/types.ts';

/** Bytes written to disk of one file of /logs/verifier, and of all of them. */
const fileCap = 2 * 1024 ** 3;
const folderCap = 8 * 1024 ** 3;
const filesCap = 20_000;
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

export interface Collected {
  /** Reports and rewards, by name in /logs/verifier. */
  readonly files: ReadonlyMap<string, Buffer>;
  /** The beginning of test-stdout.txt where it is longer than its tail, else empty. */
  readonly outputHead: string;
  /** The end of test-stdout.txt. */
  readonly outputTail: string;
  readonly marks: readonly Mark[];
}

/** Copies /logs/verifier to the host: regular files only, plain names only, capped; links and devices are marked, never followed. */
export async function collectVerifierFolder(
  container: ContainerHandle,
  dir: string,
  signal: AbortSignal,
): Promise<Collected> {
  const files = new Map<string, Buffer>();
  const written = new Map<string, string>();
  const marks: Mark[] = [];
  let outputHead = '';
  let outputTail = '';
  let total = 0;
  let inMemory = 0;
  const mark = (rule: string, message: string): void => {
    if (marks.filter((known) => known.rule === rule).length < maxMarks) marks.push({ rule, message });
  };
  await mkdir(dir, { recursive: true });
  const entries = await container.readFolder('/logs/verifier', signal);
  if (!entries)
    return {
      files,
      outputHead,
      outputTail,
      marks: [{ rule: 'verifier-folder-gone', message: 'The tests removed /logs/verifier.' }],
    };
  for await (const { header, body } of entries) {
    const relative = withoutFolder(header.name);
    const isReward = rewardNames.includes(relative);
    if (header.type === 'directory' && !isReward) continue;
    // A second name of a file is a file; it was written under its first one.
    const first = header.type === 'hardlink' ? written.get(withoutFolder(header.linkName)) : undefined;
    if (header.type !== 'file' && first === undefined) {
      mark(
        'result-not-a-file',
        `${path.posix.join('/logs/verifier', relative)} is a ${header.type}, not a file; it was not read.`,
      );
      continue;
    }
    const target = safeTarget(dir, relative);
    if (target === undefined) {
      mark(
        'result-odd-name',
        `A file of /logs/verifier has a name that is not kept: ${JSON.stringify(relative.slice(0, 100))}.`,
      );
      continue;
    }
    const size = first === undefined ? header.size : (await stat(first)).size;
    // What decides is read even where everything else is too much: no heap of files may hide it.
    const decides = isReward || relative === 'ctrf.json' || relative === 'test-stdout.txt';
    if (size > fileCap || (!decides && (total + size > folderCap || written.size >= filesCap))) {
      mark(
        'result-too-large',
        `/logs/verifier/${relative} (${size} bytes, file ${written.size + 1}) was not kept.`,
      );
      continue;
    }
    total += size;
    const isReport = /\.json$/.test(relative) && !isReward;
    const wanted = isReward
      ? size <= rewardCap
      : isReport && size <= readCap && (decides || inMemory + size <= readTotalCap);
    const { data, head, tail, isKept } = await writeBody(
      target,
      first ? createReadStream(first) : body,
      wanted,
    );
    if (!isKept)
      mark(
        'result-not-kept',
        `/logs/verifier/${relative} (${size} bytes) was read but not kept: the disk that holds the grades is full.`,
      );
    if (data) inMemory += size;
    else if (isReward || isReport)
      mark('result-too-large', `/logs/verifier/${relative} (${size} bytes) is too large to be read.`);
    // A report's beginning is no report, but tells that there is one.
    if ((isReward || isReport) && !data) files.set(relative, head);
    if (isKept) written.set(relative, target);
    if (data) files.set(relative, data);
    if (relative === 'test-stdout.txt') {
      outputHead = size > tailCap ? head.toString('utf8') : '';
      outputTail = tail.toString('utf8');
    }
  }
  return { files, outputHead, outputTail, marks };
}

interface WrittenBody {
  /** Where it was to be read. */
  readonly data: Buffer | undefined;
  readonly head: Buffer;
  readonly tail: Buffer;
  /** False where the disk is full: what a submission writes must not keep a grade from being made. */
  readonly isKept: boolean;
}

async function writeBody(target: string, body: AsyncIterable<Buffer>, keep: boolean): Promise<WrittenBody> {
  let handle = await openUnlessFull(target);
  const kept: Buffer[] = [];
  const tail = new Tail(tailCap);
  let head = Buffer.alloc(0);
  try {
    for await (const chunk of body) {
      if (handle && !(await writeUnlessFull(handle, chunk))) {
        await handle.close();
        handle = undefined;
        await rm(target);
      }
      if (keep) kept.push(Buffer.from(chunk));
      if (head.length < headCap) head = Buffer.concat([head, chunk.subarray(0, headCap - head.length)]);
      tail.write(chunk);
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
    if (errorCode(error) === 'ENOSPC') return undefined;
    throw error;
  }
}

async function writeUnlessFull(handle: FileHandle, chunk: Buffer): Promise<boolean> {
  try {
    await handle.appendFile(chunk);
    return true;
  } catch (error) {
    if (errorCode(error) === 'ENOSPC') return false;
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

/** Files of the task's tests/ that /tests no longer holds as they were sent; new files there are fine (caches). */
export async function alteredTests(
  container: ContainerHandle,
  testsDir: string,
  signal: AbortSignal,
): Promise<string[]> {
  const wanted = new Map<string, string>();
  for await (const { header, body } of walkFolder(testsDir, { prefix: 'tests', signal })) {
    if (header.type === 'file') wanted.set(header.name, await digest(body));
    else if (header.type === 'symlink') wanted.set(header.name, `link ${header.linkName}`);
  }
  const entries = await container.readFolder('/tests', signal);
  const found = new Map<string, string>();
  if (entries) {
    for await (const { header, body } of entries) {
      if (!wanted.has(header.name)) continue;
      if (header.type === 'file') found.set(header.name, await digest(body));
      else if (header.type === 'symlink') found.set(header.name, `link ${header.linkName}`);
      else if (header.type === 'hardlink') found.set(header.name, found.get(header.linkName) ?? '');
    }
  }
  return [...wanted].flatMap(([name, value]) =>
    found.get(name) === value ? [] : [`/${fromBinary(name)}${found.has(name) ? ' (altered)' : ' (removed)'}`],
  );
}

async function digest(body: AsyncIterable<Buffer>): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of body) hash.update(chunk);
  return hash.digest('hex');
}

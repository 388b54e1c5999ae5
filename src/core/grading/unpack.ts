import { randomBytes } from 'node:crypto';
import { coalesce } from '#core/container/streams.ts';
import { plainFile, readTar, type TarEntry, writeTar } from '#core/container/tarStream.ts';
import { copiedEntries, isFolderRoot, isHeld, type Owner, prepareFunction } from './copyIn.ts';
import type { Limits } from './plan.ts';
import { readSubmission } from './submission.ts';
import type { VerifyInput } from './verifySubmission.ts';

/**
 * Prepares ($2 and what follows), then has the image's own tar unpack standard input, which comes in pieces: tar reads to
 * the end of its input, and this one has none. A last entry ($1) proves that nothing is missing. The options are GNU tar's
 * (1.23): another tar ends at once. What is left are the paths to look at.
 */
const unpackScript = `
${prepareFunction}
mark=/logs/verifier/.arrived-$1
shift
prepare "$@" || exit 1
count=$1
shift
shift "$count"
while read -r size && [ "$size" -gt 0 ] && head -c "$size"; do :; done 2>/dev/null |
  TAR_OPTIONS= tar -xPpf - -C / --numeric-owner --same-owner --delay-directory-restore --warning=no-timestamp >/dev/null 2>&1 || exit 1
rm "$mark" || exit 1
echo copied >&2`;

/** Memory below which unpacking in a container might be what ends it. */
const minMemoryMb = 128;

/** Not where the task's own limits would slow it, or be hit by it. */
export function mayUnpack({ cpus, memoryMb }: Limits): boolean {
  return (cpus === null || cpus >= 1) && (memoryMb === null || memoryMb >= minMemoryMb);
}

/** For an exec as root, which prints `copied` on stderr once everything is in. */
export interface Unpacking {
  readonly script: string;
  readonly args: readonly string[];
  /** Ends only after the submission is known to be whole and fit to be graded; rejects if it is not. */
  readonly input: AsyncIterable<Buffer>;
}

/**
 * One exec for what the engine would start three processes of its own for; the submission goes in while it is kept. The
 * image is the task's, and nothing of the submission runs yet.
 */
export async function unpacking(input: VerifyInput, owner: Owner, signal: AbortSignal): Promise<Unpacking> {
  const { plan, roots, network, tee } = input;
  const name = randomBytes(6).toString('hex');
  const submission = tee ? undefined : await input.submission;
  const first = roots.slice(0, 1);
  const folders = submission ? roots.filter((root) => isFolderRoot(root, submission)) : first;
  const held = submission ? roots.filter((root) => isHeld(root, submission)) : first;
  async function* whole(): AsyncGenerator<TarEntry> {
    if (tee) yield* readTar(tee);
    else yield* readSubmission(await input.submission);
    await input.submission;
  }
  async function* entries(): AsyncGenerator<TarEntry> {
    yield* copiedEntries(whole(), { testsDir: plan.testsDir, owner, network }, signal);
    yield plainFile(`logs/verifier/.arrived-${name}`, Buffer.alloc(0));
  }
  return {
    script: unpackScript,
    args: [name, String(folders.length), ...folders, ...held],
    input: inPieces(writeTar(entries())),
  };
}

const pieceBytes = 1024 ** 2;

/** Each with a line in front that tells its size; a size of 0 is the end. */
async function* inPieces(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const piece of coalesce(source, pieceBytes)) {
    yield Buffer.from(`${piece.length}\n`);
    yield piece;
  }
  yield Buffer.from('0\n');
}

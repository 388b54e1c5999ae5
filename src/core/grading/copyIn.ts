import { type BareNetwork, bareNetworkEntries } from '#core/container/bareNetwork.ts';
import type { ContainerHandle } from '#core/container/engine.ts';
import { walkFolder } from '#core/container/folderTar.ts';
import { fromBinary, type TarHeader } from '#core/container/tarHeader.ts';
import { readTar, type TarEntry, writeTar } from '#core/container/tarStream.ts';
import { NotGradedError } from './reasons.ts';
import { readSubmission, rootName, type Submission } from './submission.ts';

/**
 * Empties the first $1 folders that follow and makes Harbor's log folders, as root (harbor.md §4.2, §10.1). A folder that
 * cannot be emptied shows in the look. An image without find is prepared too where there is nothing to empty.
 */
export const prepareFunction = `
empty() {
  for f in "$1"/* "$1"/.[!.]* "$1"/..?*; do
    if [ -e "$f" ] || [ -L "$f" ]; then find "$1" -mindepth 1 -maxdepth 1 -exec rm -rf {} +; return; fi
  done
}
prepare() {
  count=$1
  while [ "$count" -gt 0 ]; do
    shift
    if [ -L "$1" ] || { [ -e "$1" ] && [ ! -d "$1" ]; }; then rm -rf "$1"; fi
    mkdir -p "$1" && empty "$1"
    count=$((count - 1))
  done
  mkdir -p /tests /logs/verifier /logs/artifacts
  empty /logs/verifier
  chmod 777 /logs/verifier /logs/artifacts
}`;

/** The look found no GNU find, and ended there. */
export const noFindExit = 97;
/** Bytes of listing kept: some 4 million entries. */
const listingBytes = 512 * 1024 * 1024;

/**
 * One look before the tests, as root, by itself or in front of them in the same exec: a connection attempt (to a documentation address, RFC 5737), whether test.sh is there,
 * and every entry as it arrived. `%T@` and the other formats are GNU find's. It ends with the marks of `LookOutput`.
 */
export const lookScript = `
chmod +x /tests/test.sh 2>/dev/null
if [ -f /tests/test.sh ]; then echo script >&2; fi
command -v bash >/dev/null 2>&1 || echo nobash >&2
if (bash -c 'exec 3<>/dev/tcp/198.51.100.1/80') 2>/tmp/.probe.$$; then echo "connected" >&2; else echo "failed $(head -n 1 /tmp/.probe.$$)" >&2; fi
rm -f /tmp/.probe.$$
find "$@" -printf '%y\\t%m\\t%s\\t%T@\\t%l\\0%p\\0' 2>/dev/null || { echo nofind >&2; exit ${noFindExit}; }
printf '\\0'
echo looked >&2`;

export async function prepareContainer(
  container: ContainerHandle,
  roots: readonly string[],
  submission: Submission,
  signal: AbortSignal,
): Promise<void> {
  const folders = roots.filter((root) => isFolderRoot(root, submission));
  const script = `${prepareFunction}\nprepare $# "$@"`;
  const { exitCode, stderr } = await container.exec(
    { command: ['sh', '-c', script, 'sh', ...folders], user: '0' },
    signal,
  );
  if (exitCode !== 0)
    throw new NotGradedError(
      'container-start-failed',
      `The grade container could not be prepared (exit ${exitCode}): ${stderr.toString('utf8').trim() || 'its image may lack sh, find or mkdir'}.`,
    );
}

export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

function isRoot(user: string): boolean {
  return ['', '0', 'root', '0:0', 'root:root'].includes(user);
}

/** The numeric ids that the verifier runs as; 0:0 without an exec where it is root. */
export async function verifierIds(
  container: ContainerHandle,
  user: string | undefined,
  imageUser: string,
  signal: AbortSignal,
): Promise<Owner> {
  const effective = user ?? imageUser;
  if (isRoot(effective)) return { uid: 0, gid: 0 };
  const { stdout, exitCode } = await container.exec(
    { command: ['sh', '-c', 'id -u; id -g'], ...(user === undefined ? {} : { user }) },
    signal,
  );
  const [uid, gid] = stdout.toString('latin1').trim().split('\n').map(Number);
  if (
    exitCode !== 0 ||
    uid === undefined ||
    gid === undefined ||
    !Number.isInteger(uid) ||
    !Number.isInteger(gid)
  ) {
    throw new NotGradedError(
      'container-start-failed',
      `The verifier's user "${effective}" does not exist in the image.`,
    );
  }
  return { uid, gid };
}

export interface CopyInput {
  readonly testsDir: string | undefined;
  readonly owner: Owner;
  readonly network?: 'none' | BareNetwork;
}

/**
 * What goes into a container, at `/`: the submission with the verifier's owner, the tests merged onto /tests as root's.
 * Unpacked at `/`, links that leave the workdir stay what they are (docker.md §D).
 */
export async function* copiedEntries(
  submitted: AsyncIterable<TarEntry>,
  { testsDir, owner, network }: CopyInput,
  signal: AbortSignal,
): AsyncGenerator<TarEntry> {
  if (typeof network === 'object') yield* bareNetworkEntries(network);
  for await (const { header, body } of submitted) yield { header: { ...header, ...owner }, body };
  if (testsDir === undefined) return;
  for await (const { header, body } of walkFolder(testsDir, { prefix: 'tests', signal }))
    yield { header: { ...header, uid: 0, gid: 0 }, body };
}

/** Puts it all in as one archive, by the engine. */
export async function copyIn(
  container: ContainerHandle,
  input: CopyInput & { readonly submission: Submission },
  signal: AbortSignal,
): Promise<void> {
  const entries = copiedEntries(readSubmission(input.submission), input, signal);
  await container.putArchive('/', writeTar(entries), signal);
}

/** What the look into the container found. */
export interface Inspection {
  readonly hasTestScript: boolean;
  /** What Harbor runs test.sh by (harbor.md §4.5). */
  readonly hasBash: boolean;
  readonly probe: 'failed as it should' | 'connected';
  readonly probeDetail: string;
  readonly checked: number;
  /** Paths that are not as they were sent, with what differs; at most `maxDiffering`. */
  readonly differing: readonly string[];
}

const maxDiffering = 50;

/** Looks, in an exec of its own. */
export async function inspectContainer(
  container: ContainerHandle,
  roots: readonly string[],
  submission: Submission,
  signal: AbortSignal,
): Promise<Inspection> {
  const args = roots.filter((root) => isHeld(root, submission));
  const { stdout, stderr } = await container.exec(
    { command: ['sh', '-c', lookScript, 'sh', ...args], user: '0', keepBytes: listingBytes },
    signal,
  );
  return (
    readLook(stdout, stderr, submission) ?? inspectByArchive(container, args, stderr, submission, signal)
  );
}

/** What a look printed; undefined when the image has no GNU find. */
export function readLook(stdout: Buffer, stderr: Buffer, submission: Submission): Inspection | undefined {
  if (stderr.toString('latin1').split('\n').includes('nofind')) return undefined;
  return inspectionOf(stderr, submission, parseListing(stdout));
}

/** For images without GNU find: the engine's own archive says the same of the files. */
export async function inspectByArchive(
  container: ContainerHandle,
  held: readonly string[],
  stderr: Buffer,
  submission: Submission,
  signal: AbortSignal,
): Promise<Inspection> {
  return inspectionOf(stderr, submission, await listByArchive(container, held, signal));
}

function inspectionOf(
  stderr: Buffer,
  submission: Submission,
  arrived: ReadonlyMap<string, Arrived>,
): Inspection {
  const lines = stderr.toString('utf8').split('\n');
  const connected = lines.includes('connected');
  const detail = lines.find((line) => line.startsWith('failed'))?.slice('failed '.length) ?? '';
  return {
    hasTestScript: lines.includes('script'),
    hasBash: !lines.includes('nobash'),
    probe: connected ? 'connected' : 'failed as it should',
    probeDetail: connected ? 'A connection was made.' : detail.replace(/^bash: (?:line \d+: )?/, ''),
    checked: submission.entries.length,
    differing: compareArrival(submission.entries, arrived),
  };
}

interface Arrived {
  readonly type: string;
  readonly mode: number;
  readonly size: number;
  readonly mtime: number;
  readonly linkName: string;
}

/** Every entry in all but owner; folders' times aside, which unpacking their content changes (design.md §4.3). */
export function compareArrival(sent: readonly TarHeader[], arrived: ReadonlyMap<string, Arrived>): string[] {
  const differing: string[] = [];
  const sizes = new Map<string, number>();
  // Repeated names are legal in a tar: the last one counts.
  const last = new Map(sent.map((header) => [header.name, header]));
  for (const [name, header] of last) {
    const size = header.type === 'hardlink' ? (sizes.get(header.linkName) ?? 0) : header.size;
    sizes.set(name, size);
    const wanted: Arrived = {
      type: typeLetter(header),
      mode: header.mode,
      size,
      mtime: header.mtime,
      linkName: header.type === 'symlink' ? header.linkName : '',
    };
    const got = arrived.get(name);
    const why = got === undefined ? 'missing' : difference(wanted, got, header);
    if (why && differing.push(`/${fromBinary(name)}: ${why}`) >= maxDiffering) return differing;
  }
  const implied = new Set([...last.keys()].flatMap(parents));
  for (const name of arrived.keys()) {
    if (
      !last.has(name) &&
      !implied.has(name) &&
      differing.push(`/${fromBinary(name)}: unexpected`) >= maxDiffering
    )
      return differing;
  }
  return differing;
}

/** Folders that an archive need not name. */
function parents(name: string): string[] {
  const parts = name.split('/');
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'));
}

function difference(wanted: Arrived, got: Arrived, header: TarHeader): string | undefined {
  if (wanted.type !== got.type) return `type ${got.type} instead of ${wanted.type}`;
  if (header.type === 'symlink') return wanted.linkName === got.linkName ? undefined : 'another link target';
  if (wanted.mode !== got.mode) return `mode ${got.mode.toString(8)} instead of ${wanted.mode.toString(8)}`;
  if (header.type === 'directory') return undefined;
  if (wanted.size !== got.size) return `${got.size} bytes instead of ${wanted.size}`;
  // A hard link's time is its file's, and the last header that names the file wins.
  return header.type === 'file' && Math.abs(wanted.mtime - got.mtime) > 1 ? 'another time' : undefined;
}

function typeLetter({ type }: TarHeader): string {
  return type === 'directory' ? 'd' : type === 'symlink' ? 'l' : 'f';
}

function parseListing(output: Buffer): Map<string, Arrived> {
  const fields = output.toString('latin1').split('\0');
  const arrived = new Map<string, Arrived>();
  for (let i = 0; i + 1 < fields.length && fields[i] !== ''; i += 2) {
    const [type = '', mode = '', size = '', mtime = '', ...link] = (fields[i] as string).split('\t');
    arrived.set((fields[i + 1] as string).replace(/^\/+/, ''), {
      type,
      mode: Number.parseInt(mode, 8),
      size: Number(size),
      mtime: Math.floor(Number(mtime)),
      linkName: link.join('\t'),
    });
  }
  return arrived;
}

async function listByArchive(
  container: ContainerHandle,
  roots: readonly string[],
  signal: AbortSignal,
): Promise<Map<string, Arrived>> {
  const arrived = new Map<string, Arrived>();
  for (const root of roots) {
    const archive = await container.getArchive(root, signal);
    if (!archive) continue;
    const parent = rootName(root.slice(0, root.lastIndexOf('/') + 1)).replace(/\/$/, '');
    const full = (name: string): string => (parent ? `${parent}/${name}` : name);
    for await (const { header } of readTar(archive)) {
      const linked = header.type === 'hardlink' ? arrived.get(full(header.linkName)) : undefined;
      arrived.set(full(header.name), {
        type: typeLetter(header),
        mode: header.mode,
        size: linked?.size ?? header.size,
        mtime: header.mtime,
        linkName: header.type === 'symlink' ? header.linkName : '',
      });
    }
  }
  return arrived;
}

export function isHeld(root: string, submission: Submission): boolean {
  const name = rootName(root);
  return submission.entries.some((entry) => entry.name === name || entry.name.startsWith(`${name}/`));
}

/** A root that the submission holds as a file (an artifact that is a file) is only overlaid, never emptied. */
export function isFolderRoot(root: string, submission: Submission): boolean {
  const name = rootName(root);
  return submission.entries.some((entry) =>
    entry.name === name ? entry.type === 'directory' : entry.name.startsWith(`${name}/`),
  );
}

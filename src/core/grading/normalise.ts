import { fromBinary, keptTime, type TarHeader, toBinary } from '#core/container/tarHeader.ts';
import type { TarEntry } from '#core/container/tarStream.ts';
import { NotGradedError } from './reasons.ts';

/** What a submission may hold at most; a larger one is a mistake or an attack. */
export const submissionCaps = {
  bytes: 32 * 1024 ** 3,
  entries: 2_000_000,
  /** Of all names and link targets together: they are held in memory. */
  nameBytes: 256 * 1024 ** 2,
  componentBytes: 255,
  /** Without the slash in front and the NUL behind, which Linux counts. */
  pathBytes: 4094,
  linkBytes: 4095,
} as const;

export interface NormaliseOptions {
  /** Archive names (no slash in front) that entries must lie at or below. */
  readonly roots: readonly string[];
  /** Maps a name of the source to its name in the submission; undefined leaves the entry out. */
  readonly rename: (name: string) => string | undefined;
  readonly onSkipped: (name: string, what: string) => void;
}

/**
 * Turns any source's entries into a submission's: names below the roots, safe parents, links that point to what the
 * archive holds, no devices. Nothing is written anywhere; hostile members are refused by name (threats.md 14).
 */
export async function* normaliseEntries(
  source: AsyncIterable<TarEntry>,
  options: NormaliseOptions,
): AsyncGenerator<TarEntry> {
  const kinds = new Map<string, 'file' | 'directory' | 'link' | 'left-out entry'>();
  const links = new Map<string, TarEntry>();
  const excluded = new Set<string>();
  const amount = new Amount();
  for await (const entry of source) {
    const { body } = entry;
    const header = { ...entry.header, mtime: keptTime(entry.header.mtime) };
    const cleaned = cleanName(header.name);
    const name = cleaned === undefined ? undefined : options.rename(cleaned);
    if (name === undefined || name === '') {
      if (cleaned !== undefined) excluded.add(cleaned);
      continue;
    }
    if (header.name.startsWith('/') && name !== cleaned) throw refused(header.name, 'its name is absolute');
    checkName(name, options.roots.map(toBinary));
    checkParents(name, kinds);
    if (kinds.get(name) === 'directory' && header.type !== 'directory')
      throw refused(name, 'it takes the place of a folder of the same archive');
    amount.add(header);
    switch (header.type) {
      case 'directory':
      case 'file':
        kinds.set(name, header.type);
        yield { header: { ...header, name }, body };
        break;
      case 'symlink':
        checkLink(name, header.linkName);
        kinds.set(name, 'link');
        links.set(name, { header: { ...header, name }, body });
        yield { header: { ...header, name }, body };
        break;
      case 'hardlink': {
        const target = cleanName(header.linkName);
        const linkName = target === undefined ? undefined : options.rename(target);
        const kind = linkName === undefined ? undefined : kinds.get(linkName);
        const link = kind === 'link' ? links.get(linkName as string) : undefined;
        if (link) {
          // A second name of a symbolic link: the engine keeps it as a link of its own just as well.
          kinds.set(name, 'link');
          links.set(name, link);
          yield { header: { ...link.header, name }, body };
          break;
        }
        if (kind === 'left-out entry' || (target !== undefined && excluded.has(target))) {
          kinds.set(name, 'left-out entry');
          options.onSkipped(name, 'another name of an entry that was left out');
          break;
        }
        if (linkName === undefined || kind !== 'file')
          throw refused(
            name,
            `it is a hard link to "${fromBinary(header.linkName)}", which is no earlier file of the submission`,
          );
        kinds.set(name, 'file');
        yield { header: { ...header, name, linkName, size: 0 }, body };
        break;
      }
      default:
        kinds.set(name, 'left-out entry');
        options.onSkipped(
          name,
          header.type === 'unknown' ? `entry of type ${JSON.stringify(header.flag)}` : header.type,
        );
    }
  }
}

/** Counts what an archive holds, and refuses one that holds more than any submission does. */
export class Amount {
  #bytes = 0;
  #entries = 0;
  #nameBytes = 0;

  add({ name, linkName, size }: TarHeader): void {
    this.#bytes += size;
    this.#entries += 1;
    this.#nameBytes += name.length + linkName.length;
    if (this.#bytes > submissionCaps.bytes)
      throw refused(name, `with it the submission is larger than ${submissionCaps.bytes / 1024 ** 3} GiB`);
    if (this.#entries > submissionCaps.entries)
      throw refused(name, `the submission has more than ${submissionCaps.entries} entries`);
    if (this.#nameBytes > submissionCaps.nameBytes)
      throw refused(name, `the submission's names are more than ${submissionCaps.nameBytes / 1024 ** 2} MiB`);
  }
}

/** A submission of at least this many bytes is a bomb where it packs into less than one byte in `bombRatio`. */
const bombBytes = 512 * 1024 ** 2;
const bombRatio = 100;

/**
 * Refuses what is next to nothing packed and fills a disk unpacked: a decompression bomb, or sparse files, which the
 * engine writes in full. Real workspaces pack into a tenth at best.
 */
export function refuseBomb(name: string, bytes: number, packedBytes: number): void {
  if (bytes < bombBytes || bytes < packedBytes * bombRatio) return;
  throw refused(
    name,
    `with it the submission has ${Math.floor(bytes / 1024 ** 2)} MB that pack into ${Math.ceil(packedBytes / 1024 ** 2)} MB, as those of a decompression bomb or a sparse file do`,
  );
}

/** Drops `./` and empty parts; undefined for the archive's own root. */
function cleanName(name: string): string | undefined {
  const parts = name.split('/').filter((part) => part !== '' && part !== '.');
  return parts.length === 0 ? undefined : parts.join('/');
}

function checkName(name: string, roots: readonly string[]): void {
  const parts = name.split('/');
  if (parts.includes('..')) throw refused(name, 'its name has a ".." part');
  if (parts.some((part) => part.length > submissionCaps.componentBytes))
    throw refused(name, `a part of its name is longer than ${submissionCaps.componentBytes} bytes`);
  if (name.length > submissionCaps.pathBytes)
    throw refused(name, `its path is longer than ${submissionCaps.pathBytes} bytes`);
  if (name.includes('\0')) throw refused(name, 'its name has a NUL byte');
  if (!roots.some((root) => name === root || name.startsWith(`${root}/`)))
    throw refused(name, `it lies outside ${roots.map((root) => `/${fromBinary(root)}`).join(', ')}`);
}

function checkLink(name: string, target: string): void {
  if (target === '' || target.length > submissionCaps.linkBytes || target.includes('\0'))
    throw refused(
      name,
      `it is a link whose target has ${target.length} bytes, and no system makes one with none or more than ${submissionCaps.linkBytes}`,
    );
}

/** An entry below a link or a file would be written through it. */
function checkParents(name: string, kinds: ReadonlyMap<string, string>): void {
  for (let slash = name.indexOf('/'); slash !== -1; slash = name.indexOf('/', slash + 1)) {
    const kind = kinds.get(name.slice(0, slash));
    if (kind !== undefined && kind !== 'directory')
      throw refused(
        name,
        `its parent "${fromBinary(name.slice(0, slash))}" is a ${kind} in the same archive`,
      );
  }
}

function refused(name: string, why: string): NotGradedError {
  const shown = fromBinary(name);
  return new NotGradedError(
    'submission-refused',
    `"${shown.length > 200 ? `${shown.slice(0, 200)}…` : shown}" is refused: ${why}.`,
  );
}

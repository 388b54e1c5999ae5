import type { IncomingMessage } from 'node:http';
import { toBinary } from './tarHeader.ts';
import { noBody, readTar, type TarEntry, writeTar } from './tarStream.ts';

/** Go's `os.FileMode` bit of a link, as the engine tells it in a path's stat. */
const modeLink = 0x0800_0000;
const statHeader = 'x-docker-container-path-stat';

interface PathStat {
  readonly name: string;
  readonly mode: number;
  readonly linkTarget: string;
}

function readStat(header: string | string[] | undefined): PathStat | undefined {
  try {
    const { name, mode, linkTarget } = JSON.parse(
      Buffer.from(String(header), 'base64').toString('utf8'),
    ) as Partial<Record<keyof PathStat, unknown>>;
    if (typeof mode !== 'number') return undefined;
    return { name: String(name), mode, linkTarget: typeof linkTarget === 'string' ? linkTarget : '' };
  } catch {
    return undefined;
  }
}

/**
 * The entry of a link, when what an archive was asked of is one. Docker's archive is that entry alone; Podman's holds
 * what the link leads to.
 */
export function linkOf(answer: Pick<IncomingMessage, 'headers'>): TarEntry | undefined {
  const stat = readStat(answer.headers[statHeader]);
  if (!stat || (stat.mode & modeLink) === 0) return undefined;
  return {
    header: {
      ...{ name: toBinary(stat.name), type: 'symlink', mode: 0o777, mtime: 0, size: 0, uid: 0, gid: 0 },
      ...{ linkName: toBinary(stat.linkTarget), devMajor: 0, devMinor: 0, flag: '' },
    },
    body: noBody,
  };
}

/**
 * An archive whose names start with the path's last component. Podman's, of a volume in a container that is frozen or
 * stopped, start with a slash and leave that component out.
 */
export function namedArchive(archive: AsyncIterable<Buffer>, target: string): AsyncIterable<Buffer> {
  const base = toBinary(target.split('/').filter(Boolean).at(-1) ?? '');
  const below = (name: string): string => [base, name.replace(/^\/+/, '')].filter(Boolean).join('/');
  async function* entries(): AsyncGenerator<TarEntry> {
    let isNameless: boolean | undefined;
    for await (const { header, body } of readTar(archive)) {
      isNameless ??= /^\/*$/.test(header.name) && base !== '';
      if (!isNameless) yield { header, body };
      else {
        const linkName = header.type === 'hardlink' ? below(header.linkName) : header.linkName;
        yield { header: { ...header, name: below(header.name), linkName }, body };
      }
    }
  }
  return writeTar(entries());
}

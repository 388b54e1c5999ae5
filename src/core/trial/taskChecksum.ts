import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';

/**
 * Harbor's deprecated `task_checksum` (harbor.md §8.3): `dirhash(folder, "sha256")` of the whole folder, links
 * followed, empty folders left out. A link that leads back to a folder above it is left out (Harbor fails there).
 */
export async function taskChecksum(dir: string): Promise<string> {
  return (await hashFolder(dir, [])) ?? sha256('');
}

async function hashFolder(dir: string, above: readonly string[]): Promise<string | undefined> {
  const descriptors: string[] = [];
  for (const name of await readdir(dir)) {
    const place = path.join(dir, name);
    const info = await stat(place).catch(() => undefined);
    if (info?.isDirectory()) {
      const identity = `${info.dev}:${info.ino}`;
      if (above.includes(identity)) continue;
      const hash = await hashFolder(place, [...above, identity]);
      if (hash !== undefined) descriptors.push(`dirhash:${hash}\0name:${name}`);
    } else if (info?.isFile()) {
      descriptors.push(`data:${await hashFile(place)}\0name:${name}`);
    }
  }
  if (descriptors.length === 0) return undefined;
  return sha256(descriptors.sort(byCodePoint).join('\0\0'));
}

async function hashFile(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Python's order of strings. */
function byCodePoint(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

import { readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';

/** A file as it was when it was read last. */
export interface KnownFile {
  readonly stamp: string;
  readonly sha256: string;
  /** It was changed so shortly before that the same stamp may stand for other content: read it again. */
  readonly isRacy: boolean;
}

const schema = z.object({
  schemaVersion: z.literal(1),
  files: z.array(z.tuple([z.string(), z.string(), z.string(), z.boolean()])),
});

/**
 * What is known of a workspace's files by path, so that the first snapshot of a session need not read them all. A cache:
 * one that is torn or of another version is empty.
 */
export class StampIndex {
  readonly #file: string;
  #files: Map<string, KnownFile> | undefined;

  /** `dir`: the snapshot store's. */
  constructor(dir: string) {
    this.#file = path.join(dir, 'index.cache');
  }

  async load(): Promise<ReadonlyMap<string, KnownFile>> {
    this.#files ??= await this.#read();
    return this.#files;
  }

  /** On disk too, without haste: what is lost is read again. */
  async replace(files: Map<string, KnownFile>): Promise<void> {
    this.#files = files;
    const rows = [...files].map(([name, { stamp, sha256, isRacy }]) => [name, stamp, sha256, isRacy]);
    const temp = `${this.#file}.${process.pid}.tmp`;
    await writeFile(temp, JSON.stringify({ schemaVersion: 1, files: rows }), { mode: 0o600 });
    await rename(temp, this.#file);
  }

  async #read(): Promise<Map<string, KnownFile>> {
    try {
      const { files } = schema.parse(JSON.parse(await readFile(this.#file, 'utf8')));
      return new Map(files.map(([name, stamp, sha256, isRacy]) => [name, { stamp, sha256, isRacy }]));
    } catch {
      return new Map();
    }
  }
}

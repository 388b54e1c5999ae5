import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { isCancellation } from '#core/base/errors.ts';
import { writeFileAtomic } from '#core/base/files.ts';
import type { Log } from '#core/base/log.ts';
import { type BareNetwork, probeBareNetwork } from '#core/container/bareNetwork.ts';
import {
  type ContainerEngine,
  EngineError,
  type EngineInfo,
  type ImageInfo,
} from '#core/container/engine.ts';

/** How long an answer holds: an engine's settings, and its host's resolv.conf, may change. */
const holdsMs = 24 * 60 * 60_000;

const entry = z.object({
  /** Epoch milliseconds. */
  askedAt: z.number(),
  network: z.object({ hosts: z.string(), resolvConf: z.string(), ipv6: z.boolean().optional() }).nullable(),
});
const file = z.record(z.string(), entry);

/**
 * The network for grade containers of an engine: a bare one where the engine proved within a day that a program finds
 * the same in it, else `none`. Asked once a day, kept in `<storeDir>/networks.json`; a file that cannot be read or
 * written costs time, nothing else.
 */
export async function gradeNetwork(
  engine: ContainerEngine,
  info: EngineInfo,
  image: ImageInfo,
  options: { readonly storeDir: string; readonly log: Log; readonly signal: AbortSignal },
): Promise<'none' | BareNetwork> {
  // An ENTRYPOINT runs before the files are in.
  if (!info.id || image.entrypoint.length > 0) return 'none';
  const cache = path.join(options.storeDir, 'networks.json');
  // Engines of one machine may tell the same id.
  const key = `${info.id} ${info.version} ${info.address}`;
  const known = await read(cache);
  const found = known[key];
  const age = Date.now() - (found?.askedAt ?? 0);
  if (found && age >= 0 && age < holdsMs) return found.network ?? 'none';
  const network = await probe(engine, image, options);
  await write(cache, { ...known, [key]: { askedAt: Date.now(), network: network ?? null } }, options.log);
  return network ?? 'none';
}

async function probe(
  engine: ContainerEngine,
  image: ImageInfo,
  { log, signal }: { readonly log: Log; readonly signal: AbortSignal },
): Promise<BareNetwork | undefined> {
  try {
    return await probeBareNetwork(engine, image, signal);
  } catch (error) {
    if (isCancellation(error) || !(error instanceof EngineError) || error.failure === 'lost') throw error;
    log.debug(`No bare network: ${error.message}`);
    return undefined;
  }
}

async function read(cache: string): Promise<z.infer<typeof file>> {
  try {
    return file.parse(JSON.parse(await readFile(cache, 'utf8')));
  } catch {
    return {};
  }
}

async function write(cache: string, content: z.infer<typeof file>, log: Log): Promise<void> {
  try {
    await writeFileAtomic(cache, JSON.stringify(content));
  } catch (error) {
    log.debug(`${cache} cannot be written: ${String(error)}`);
  }
}

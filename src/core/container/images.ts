import { createHash, type Hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { throwIfCancelled } from '#core/base/errors.ts';
import { type Log, nullLog } from '#core/base/log.ts';
import { hasExceptions, parseDockerignore } from './dockerignore.ts';
import { type ContainerEngine, EngineError, type ImageInfo } from './engine.ts';
import { FolderChangedError, walkFolder } from './folderTar.ts';
import { environmentLabel, workbenchLabel } from './labels.ts';
import { fromBinary } from './tarHeader.ts';
import { bodyOf, type TarEntry, writeTar } from './tarStream.ts';

/** Where an image comes from. */
export type ImagePlan =
  | { readonly kind: 'reference'; readonly reference: string }
  | {
      readonly kind: 'build';
      /** Absolute path of the build context; its `Dockerfile` is built. */
      readonly context: string;
      /** Short name for the tag, any text. */
      readonly name: string;
      /** Identifies the context's content as Harbor does (harbor.md §8.3), which leaves out modes, links and caches. */
      readonly environmentId: string;
      /** Seconds. */
      readonly timeoutSec: number;
    };

export interface ImageOptions {
  readonly onProgress: (line: string) => void;
  readonly log: Log;
  readonly signal?: AbortSignal;
}

/** What the BuildKit frontend alone understands; without any of it the classic builder is enough. */
const needsBuildKit =
  /^\s*(?:RUN\s+--(?:mount|network|security)|(?:COPY|ADD)\s+(?:--\S+\s+)*--(?:chmod|link|parents|exclude)|(?:RUN|COPY)\s[^\n]*<<)/im;

/**
 * The image of a plan: the engine's own copy where it has one (never a look at a registry then), else pulled or
 * built. A built image is kept under the digest of all that it was built from, and found again by it.
 */
export async function ensureImage(
  engine: ContainerEngine,
  plan: ImagePlan,
  options: ImageOptions,
): Promise<ImageInfo> {
  const digest = plan.kind === 'build' ? await contextDigest(plan.context, options) : '';
  const reference =
    plan.kind === 'reference'
      ? plan.reference
      : imageTag(plan.name, `${plan.environmentId}-${digest.slice(0, digestLength)}`);
  const present = await engine.inspectImage(reference, options.signal);
  const image =
    present ??
    (plan.kind === 'reference'
      ? await pull(engine, reference, options)
      : await build(engine, reference, plan, digest, options));
  await checkPlatform(engine, image);
  return image;
}

/** Characters of a context's digest in a tag, which holds 128. */
const digestLength = 16;

/** `e2e-swe/<name>:<id>`. */
export function imageTag(name: string, id: string): string {
  const safe =
    name
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-+|-+$/g, '') || 'task';
  return `e2e-swe/${safe}:${id}`;
}

async function pull(engine: ContainerEngine, reference: string, options: ImageOptions): Promise<ImageInfo> {
  options.log.info(`Pulling ${reference}`);
  try {
    return await engine.pullImage(reference, options.onProgress, options.signal);
  } catch (error) {
    if (error instanceof EngineError && error.failure === 'pull-failed') {
      throw new EngineError(
        'pull-failed',
        `The image ${reference} is not on this machine and cannot be pulled: ${error.message}`,
        { cause: error },
      );
    }
    throw error;
  }
}

async function build(
  engine: ContainerEngine,
  tag: string,
  plan: ImagePlan & { kind: 'build' },
  digest: string,
  options: ImageOptions,
): Promise<ImageInfo> {
  const deadline = AbortSignal.timeout(Math.max(1, plan.timeoutSec * 1000));
  const signal = options.signal ? AbortSignal.any([options.signal, deadline]) : deadline;
  const dockerfile = await readDockerfile(plan.context);
  const info = await engine.info();
  // Podman's own builder does all that these ask for, and it knows no BuildKit session.
  const buildKit = info.buildKit || (info.product === 'Docker' && needsBuildKit.test(dockerfile));
  options.log.info(`Building ${tag} from ${plan.context} (${buildKit ? 'BuildKit' : 'classic builder'})`);
  try {
    return await engine.buildImage(
      {
        tag,
        context: writeTar(unchanged(contextEntries(plan.context, dockerfile, options, signal), digest)),
        dockerfile: 'Dockerfile',
        labels: { [workbenchLabel]: 'image', [environmentLabel]: plan.environmentId },
        buildKit,
        onProgress: options.onProgress,
      },
      signal,
    );
  } catch (error) {
    throwIfCancelled(options.signal);
    if (error instanceof FolderChangedError)
      throw new EngineError(
        'build-failed',
        `${plan.context} was changed while the image was built from it: ${error.message}`,
        { cause: error },
      );
    if (deadline.aborted)
      throw new EngineError(
        'build-failed',
        `The image was not built within ${plan.timeoutSec} s ([environment].build_timeout_sec).`,
        { cause: error },
      );
    throw error;
  }
}

/** Of everything that the engine gets: names, kinds, modes, targets and contents; owners and times are in no image. */
async function contextDigest(context: string, options: ImageOptions): Promise<string> {
  const hash = createHash('sha256');
  const quiet = { ...options, log: nullLog };
  const entries = contextEntries(context, await readDockerfile(context), quiet, options.signal);
  for await (const { body } of hashed(entries, hash)) for await (const _ of body);
  return hash.digest('hex');
}

/** Entries and contents as they are; the hash has of them what is read. */
async function* hashed(entries: AsyncIterable<TarEntry>, hash: Hash): AsyncGenerator<TarEntry> {
  async function* through(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of body) {
      hash.update(chunk);
      yield chunk;
    }
  }
  for await (const { header, body } of entries) {
    const { name, type, mode, linkName, size } = header;
    hash.update(JSON.stringify([name, type, mode, linkName, size]));
    yield { header, body: through(body) };
  }
}

/** Errors, when all is read: `FolderChangedError` where it was not what the digest is of. */
async function* unchanged(entries: AsyncIterable<TarEntry>, digest: string): AsyncGenerator<TarEntry> {
  const hash = createHash('sha256');
  yield* hashed(entries, hash);
  if (hash.digest('hex') !== digest)
    throw new FolderChangedError('Its files are no longer those that the image was looked for by.');
}

async function readDockerfile(context: string): Promise<string> {
  return dockerfileFor(await readFile(path.join(context, 'Dockerfile'), 'utf8'));
}

/** A `# syntax=` line makes BuildKit fetch a frontend from a registry, which fails offline; the built-in one serves. */
function dockerfileFor(text: string): string {
  return text
    .replace(/^\uFEFF/, '')
    .replace(/^#\s*syntax\s*=.*$/im, "# (syntax line left out: built with the engine's own frontend)");
}

async function* contextEntries(
  context: string,
  dockerfile: string,
  options: ImageOptions,
  signal: AbortSignal | undefined,
): AsyncGenerator<TarEntry> {
  const ignoreText = await readFile(path.join(context, '.dockerignore'), 'utf8').catch(() => '');
  const ignored = parseDockerignore(ignoreText);
  const mustWalk = hasExceptions(ignoreText);
  const entries = walkFolder(context, {
    prefix: '',
    ...(signal ? { signal } : {}),
    exclude: (relative, isFolder) => {
      const name = fromBinary(relative);
      return name !== 'Dockerfile' && ignored(name) && !(isFolder && mustWalk);
    },
    onSkipped: (relative, what) =>
      options.log.warn(`The build context's ${what} ${fromBinary(relative)} is left out.`),
  });
  for await (const entry of entries) {
    if (entry.header.name !== 'Dockerfile') {
      // A folder that was walked for an exception below it is not itself in the context.
      if (!(entry.header.type === 'directory' && ignored(fromBinary(entry.header.name)))) yield entry;
    } else {
      const data = Buffer.from(dockerfile);
      yield {
        header: { ...entry.header, type: 'file', size: data.length, linkName: '' },
        body: bodyOf(data),
      };
    }
  }
}

async function checkPlatform(engine: ContainerEngine, image: ImageInfo): Promise<void> {
  const { os } = await engine.info();
  if (image.os !== os)
    throw new EngineError(
      'refused',
      `The image ${image.reference} is for ${image.os}, the engine runs ${os} containers.`,
    );
}

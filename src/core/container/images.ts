import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { throwIfCancelled } from '#core/base/errors.ts';
import type { Log } from '#core/base/log.ts';
import { hasExceptions, parseDockerignore } from './dockerignore.ts';
import { type ContainerEngine, EngineError, type ImageInfo } from './engine.ts';
import { walkFolder } from './folderTar.ts';
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
      /** Identifies the context's content (harbor.md §8.3): the cache key. */
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
 * built. A built image is kept under its environment id and found again by it.
 */
export async function ensureImage(
  engine: ContainerEngine,
  plan: ImagePlan,
  options: ImageOptions,
): Promise<ImageInfo> {
  const reference = plan.kind === 'reference' ? plan.reference : imageTag(plan.name, plan.environmentId);
  const present = await engine.inspectImage(reference, options.signal);
  const image =
    present ??
    (plan.kind === 'reference'
      ? await pull(engine, reference, options)
      : await build(engine, reference, plan, options));
  await checkPlatform(engine, image);
  return image;
}

/** `e2e-swe/<name>:<environment id>`. */
export function imageTag(name: string, environmentId: string): string {
  const safe =
    name
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-+|-+$/g, '') || 'task';
  return `e2e-swe/${safe}:${environmentId}`;
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
  options: ImageOptions,
): Promise<ImageInfo> {
  const deadline = AbortSignal.timeout(Math.max(1, plan.timeoutSec * 1000));
  const signal = options.signal ? AbortSignal.any([options.signal, deadline]) : deadline;
  const dockerfile = dockerfileFor(await readFile(path.join(plan.context, 'Dockerfile'), 'utf8'));
  const info = await engine.info();
  // Podman's own builder does all that these ask for, and it knows no BuildKit session.
  const buildKit = info.buildKit || (info.product === 'Docker' && needsBuildKit.test(dockerfile));
  options.log.info(`Building ${tag} from ${plan.context} (${buildKit ? 'BuildKit' : 'classic builder'})`);
  try {
    return await engine.buildImage(
      {
        tag,
        context: writeTar(contextEntries(plan.context, dockerfile, options, signal)),
        dockerfile: 'Dockerfile',
        labels: { [workbenchLabel]: 'image', [environmentLabel]: plan.environmentId },
        buildKit,
        onProgress: options.onProgress,
      },
      signal,
    );
  } catch (error) {
    throwIfCancelled(options.signal);
    if (deadline.aborted)
      throw new EngineError(
        'build-failed',
        `The image was not built within ${plan.timeoutSec} s ([environment].build_timeout_sec).`,
        { cause: error },
      );
    throw error;
  }
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
  signal: AbortSignal,
): AsyncGenerator<TarEntry> {
  const ignoreText = await readFile(path.join(context, '.dockerignore'), 'utf8').catch(() => '');
  const ignored = parseDockerignore(ignoreText);
  const mustWalk = hasExceptions(ignoreText);
  const entries = walkFolder(context, {
    prefix: '',
    signal,
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

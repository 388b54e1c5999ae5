import { z } from 'zod';
import { decodeBuildKitStatus } from './buildKitStatus.ts';
import { EngineError } from './engine.ts';
import { readLines } from './streams.ts';

const line = z.object({
  stream: z.string().optional(),
  status: z.string().optional(),
  id: z.string().optional(),
  progress: z.string().optional(),
  error: z.string().optional(),
  errorDetail: z.object({ code: z.number().optional(), message: z.string().optional() }).optional(),
  aux: z.unknown().optional(),
});

/** What the classic builder says of its layers and containers, by ids: the step above says what is done. */
const housekeeping = /^(?: ---> |Removing intermediate container )/;

/** Lines of output kept for the message of a failed build. */
const tailLines = 20;

/**
 * Follows a build or pull to its end. Both report failure as an event inside a stream that ends normally, so the
 * events are read, never the promise. Errors: `EngineError` with `failure` and the last lines of output.
 */
export async function followProgress(
  stream: AsyncIterable<Buffer | Uint8Array>,
  failure: 'build-failed' | 'pull-failed',
  onLine: (text: string) => void,
): Promise<void> {
  const tail: string[] = [];
  const say = (text: string): void => {
    for (const part of text.split('\n')) {
      const clean = part.trimEnd();
      if (!clean) continue;
      if (!housekeeping.test(clean)) onLine(clean);
      tail.push(clean);
      if (tail.length > tailLines) tail.shift();
    }
  };
  const seen = new Set<string>();
  for await (const text of readLines(stream)) {
    const event = parseEvent(text);
    if (event === undefined) continue;
    if (event.id === 'moby.buildkit.trace') {
      for (const message of buildKitLines(event.aux, seen)) say(message);
    } else if (event.error !== undefined) {
      throw progressError(failure, event.errorDetail?.message ?? event.error, tail);
    } else if (event.stream !== undefined) {
      say(event.stream);
    } else if (event.status !== undefined) {
      onLine([event.id, event.status, event.progress].filter(Boolean).join(' '));
    }
  }
}

function parseEvent(text: string): z.infer<typeof line> | undefined {
  if (!text.trim()) return undefined;
  try {
    return line.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** Steps as they start (each once), output, and errors. */
function buildKitLines(aux: unknown, seen: Set<string>): string[] {
  if (typeof aux !== 'string') return [];
  const { steps, output } = decodeBuildKitStatus(aux);
  const fresh = steps
    .filter(({ name, started }) => started && name && !seen.has(name))
    .map(({ name }) => name);
  for (const name of fresh) seen.add(name);
  return [...fresh, ...output, ...steps.flatMap(({ error }) => (error ? [`ERROR: ${error}`] : []))];
}

/** A build that fails at a FROM is for want of an image, not of a better Dockerfile. */
function progressError(
  failure: 'build-failed' | 'pull-failed',
  message: string,
  tail: readonly string[],
): EngineError {
  const base = failure === 'build-failed' ? missingBase(message, tail) : undefined;
  if (base === undefined) return new EngineError(failure, failureMessage(message, tail));
  return new EngineError(
    'pull-failed',
    `The Dockerfile's base image ${base} is not on this machine and cannot be pulled: ${message.trim()}`,
  );
}

/** How BuildKit ends where a base image cannot be had. */
const unresolved =
  /failed to (?:create LLB definition|resolve source metadata)[\s\S]*(?:failed to do request|not found|denied|unauthorized|authoriz|dial tcp|no such host)/;
const loadingMetadata = '[internal] load metadata for ';

/** The image of the FROM at which a build ended: the classic builder's last step, or BuildKit's own words. */
function missingBase(message: string, tail: readonly string[]): string | undefined {
  const step = /^Step \d+\/\d+ : FROM (?:--platform=\S+ )?(\S+)/i.exec(tail.at(-1) ?? '');
  if (step) return step[1];
  if (!unresolved.test(message)) return undefined;
  const loading = tail.findLast((text) => text.startsWith(loadingMetadata));
  return loading?.slice(loadingMetadata.length).trim();
}

function failureMessage(message: string, tail: readonly string[]): string {
  const context = tail.filter((text) => text !== message).slice(-tailLines);
  return context.length ? `${message.trim()}\n${context.join('\n')}` : message.trim();
}

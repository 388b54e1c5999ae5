import type Docker from 'dockerode';

/** How long an engine may take for an answer, or for the beginning of one that is a stream. */
const answerMs = 180_000;
/** The same for what every engine knows at once. */
const quickAnswerMs = 15_000;
const quick = /^\/(?:_ping|info|version)\b/;
/** Their first byte comes when a registry or a build has something to tell; they end by their caller's signal. */
const slow = /^\/(?:images\/create|build)\b/;

type Callback = (error: unknown, data: unknown) => void;

interface Request {
  readonly path: string;
  readonly isStream?: boolean;
  /** The connection itself is the answer. */
  readonly hijack?: boolean;
  readonly file?: unknown;
  readonly abortSignal?: AbortSignal;
  /** The caller's own; not every call of dockerode takes the signal out of them. */
  readonly options?: { readonly abortSignal?: AbortSignal };
}

interface Modem {
  dial(request: Request, callback: Callback): void;
}

/**
 * Makes every call of a dockerode client end. docker-modem waits without limit for an engine that took a request and
 * says nothing, and for ever for one that goes away in the middle of an answer (its promise is never settled, so that
 * a process with nothing else to do exits as if all were well).
 */
export function guardAnswers(docker: Docker): Docker {
  const modem = docker.modem as Modem;
  const dial = modem.dial.bind(modem);
  modem.dial = (request, callback) => {
    const given = request.abortSignal ?? request.options?.abortSignal;
    if (request.file !== undefined || slow.test(request.path)) return dial(request, callback);
    const late = new AbortController();
    const ms = quick.test(request.path) ? quickAnswerMs : answerMs;
    const timer = setTimeout(() => late.abort(), ms);
    const abortSignal = given ? AbortSignal.any([given, late.signal]) : late.signal;
    const settle: Callback = (error, data) => {
      clearTimeout(timer);
      if (!error) callback(null, data);
      else if (given?.aborted) callback(given.reason, null);
      else callback(late.signal.aborted ? tooLate(ms) : error, null);
    };
    // Read here, as a stream: of an answer that is cut short only the stream's reader is told.
    if (request.isStream || request.hijack) dial({ ...request, abortSignal }, settle);
    else
      dial({ ...request, abortSignal, isStream: true }, (error, body) => {
        if (error) settle(error, null);
        else readBody(body as AsyncIterable<Buffer>).then((data) => settle(null, data), settleError(settle));
      });
  };
  return docker;
}

const settleError = (settle: Callback) => (error: unknown) => settle(error, null);

/** JSON where it is JSON, else the bytes: as docker-modem hands it on. */
async function readBody(body: AsyncIterable<Buffer>): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  try {
    return (JSON.parse(bytes.toString('utf8')) as unknown) || bytes;
  } catch {
    return bytes;
  }
}

function tooLate(ms: number): Error {
  return Object.assign(new Error(`no answer within ${ms / 1000} s`), { code: 'ETIMEDOUT' });
}

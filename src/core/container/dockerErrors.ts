import { CancelledError, errorCode, errorMessage, isCancellation, UserError } from '#core/base/errors.ts';
import { EngineError, type EngineFailure } from './engine.ts';

const gone = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'ERR_STREAM_PREMATURE_CLOSE']);
const unreachable = new Set([
  'ENOENT',
  'ECONNREFUSED',
  'EACCES',
  'EPERM',
  'ENOTFOUND',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'EAI_AGAIN',
]);

/** The HTTP status that docker-modem puts on its errors. */
export function statusCode(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('statusCode' in error)) return undefined;
  return typeof error.statusCode === 'number' ? error.statusCode : undefined;
}

/** Turns what dockerode throws into an `EngineError` with a named failure; a cancellation stays one. */
export function engineError(
  error: unknown,
  doing: string,
  fallback: EngineFailure = 'other',
  signal?: AbortSignal,
): Error {
  if (signal?.aborted || isCancellation(error)) return new CancelledError();
  if (error instanceof EngineError) return error;
  // What ssh said, in front of any answer.
  if (error instanceof UserError) return new EngineError('unreachable', error.message, { cause: error });
  const code = errorCode(error) ?? '';
  const text = cleanMessage(errorMessage(error));
  if (/no space left on device/i.test(text))
    return new EngineError('disk-full', `The engine's disk is full (${doing}).`, { cause: error });
  if (gone.has(code) || /socket hang up/.test(text))
    return new EngineError('lost', `The engine went away while ${doing}.`, { cause: error });
  if (unreachable.has(code))
    return new EngineError('unreachable', `The engine does not answer (${code}) while ${doing}.`, {
      cause: error,
    });
  const status = statusCode(error);
  if (status === 404 && fallback === 'other') return new EngineError('not-found', text, { cause: error });
  return new EngineError(fallback, text, { cause: error });
}

/** docker-modem wraps the daemon's sentence in "(HTTP code 500) server error - …". */
function cleanMessage(message: string): string {
  return message.replace(/^\(HTTP code \d+\) .*? - /s, '').trim();
}

/**
 * Errors for people. A `UserError` is one clear sentence that names the thing at fault and the next step;
 * anything else that is thrown is a bug and is shown as such, with the log at hand.
 */
export class UserError extends Error {
  override readonly name = 'UserError';
  /** What the person can do next, one sentence in the imperative. */
  readonly nextStep: string | undefined;

  constructor(message: string, options: { readonly nextStep?: string; readonly cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.nextStep = options.nextStep;
  }
}

/** Thrown when an `AbortSignal` fired: not an error, dropped in one place by each front end. */
export class CancelledError extends Error {
  override readonly name = 'CancelledError';

  constructor(message = 'Cancelled.') {
    super(message);
  }
}

/** True for our own `CancelledError` and for the platform's `AbortError`. */
export function isCancellation(error: unknown): boolean {
  return error instanceof CancelledError || (error instanceof Error && error.name === 'AbortError');
}

/** Throws `CancelledError` when the signal has fired. */
export function throwIfCancelled(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new CancelledError();
}

/** The message of anything that was thrown. */
export function errorMessage(error: unknown): string {
  if (error instanceof AggregateError && !error.message) return error.errors.map(errorMessage).join('; ');
  return error instanceof Error ? error.message : String(error);
}

/** Node's `code` (`ENOENT`, …) of a thrown value, where it has one. */
export function errorCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** True where a write found no room: the disk, or what its user may have of it, is full. */
export function isDiskFull(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT'].includes(errorCode(error) ?? '');
}

/** What a write that found no room is to people; all else as it is. */
export function orDiskFull(error: unknown, folder: string): unknown {
  if (!isDiskFull(error)) return error;
  return new UserError(`The disk that holds "${folder}" is full.`, {
    nextStep: 'Free some space and try again.',
    cause: error,
  });
}

import type { AttemptStore } from '#core/attempt/attemptStore.ts';
import type { Attempts } from '#core/attempt/attempts.ts';
import { type CliContext, UsageError } from './context.ts';

/** What the commands about attempts work with. */
export interface AttemptCommandContext extends CliContext {
  readonly store: AttemptStore;
  readonly attempts: Attempts;
}

/** The one attempt that is named. */
export function oneId(positionals: readonly string[]): string {
  const [id, ...others] = positionals;
  if (id === undefined || others.length > 0) throw new UsageError('Name one attempt.');
  return id;
}

/** What cannot be undone wants to be said twice. */
export function requireYes(yes: boolean | undefined, what: string): void {
  if (!yes) throw new UsageError(`${what} Say --yes to do it.`);
}

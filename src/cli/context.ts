import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { isCancellation, UserError } from '#core/base/errors.ts';
import type { Log } from '#core/base/log.ts';

/** What a command gets of the process. */
export interface CliContext {
  readonly signal: AbortSignal;
  readonly env: NodeJS.ProcessEnv;
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  /** Content as it is; resolves once there is room for more. */
  readonly stdoutBytes: (bytes: Uint8Array) => Promise<void>;
}

export const exitCodes = {
  resolved: 0,
  unresolved: 1,
  usage: 2,
  notGraded: 3,
  cancelled: 130,
  bug: 70,
} as const;

/** Wrong words on the command line: exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export function parseCommand<T extends NonNullable<ParseArgsConfig['options']>>(args: string[], options: T) {
  // An unset variable of the caller's script: as a path it would mean the current folder.
  const own = args.includes('--') ? args.slice(0, args.indexOf('--')) : args;
  if (own.includes('')) throw new UsageError('An argument is empty.');
  try {
    return parseArgs({ args, options, allowPositionals: true, strict: true });
  } catch (error) {
    // Node's message goes on with advice about its own parser.
    throw new UsageError(((error as Error).message.split(/\. |\n/)[0] ?? '').replace(/\.?$/, '.'));
  }
}

export function reportFailure(error: unknown, context: CliContext): number {
  if (context.signal.aborted || isCancellation(error)) {
    context.stderr('Cancelled.\n');
    return exitCodes.cancelled;
  }
  if (error instanceof UsageError) {
    context.stderr(`e2e-swe: ${error.message}\nSee "e2e-swe --help".\n`);
    return exitCodes.usage;
  }
  if (error instanceof UserError) {
    context.stderr(`e2e-swe: ${error.message}${error.nextStep ? `\n${error.nextStep}` : ''}\n`);
    return exitCodes.usage;
  }
  context.stderr(
    `e2e-swe: this is a bug; please report it.\n${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
  );
  return exitCodes.bug;
}

/** Where grades are kept: `E2E_SWE_HOME`, else the platform's data folder. */
export function storeFolder(env: NodeJS.ProcessEnv): string {
  if (env.E2E_SWE_HOME) return path.resolve(env.E2E_SWE_HOME);
  const home = env.HOME ?? homedir();
  if (process.platform === 'darwin')
    return path.join(home, 'Library', 'Application Support', 'e2e-swe-workbench');
  if (process.platform === 'win32')
    return path.join(env.LOCALAPPDATA ?? path.join(home, 'AppData', 'Local'), 'e2e-swe-workbench');
  return path.join(env.XDG_DATA_HOME ?? path.join(home, '.local', 'share'), 'e2e-swe-workbench');
}

/** The tasks that come with the product, beside the bundle. */
export function bundledTasks(): string {
  return path.resolve(__dirname, '..', 'tasks');
}

/** A task by its folder, or by the name of a bundled one. */
export function taskFolder(name: string): string {
  const bundled = path.join(bundledTasks(), name);
  return !existsSync(name) && !name.includes('/') && existsSync(bundled) ? bundled : path.resolve(name);
}

/** Warnings always, more with `E2E_SWE_LOG=debug`; on stderr, so that stdout stays the result. */
export function stderrLog(context: CliContext): Log {
  const verbose = context.env.E2E_SWE_LOG === 'debug';
  const say = (level: string, shown: boolean) => (message: string) => {
    if (shown) context.stderr(`${level}: ${message}\n`);
  };
  return {
    trace: say('trace', verbose),
    debug: say('debug', verbose),
    info: say('info', verbose),
    warn: say('warning', true),
    error: say('error', true),
  };
}

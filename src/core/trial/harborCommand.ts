import { spawn } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import path from 'node:path';
import { CancelledError, UserError } from '#core/base/errors.ts';

/** How the real Harbor is called. */
export interface HarborCommand {
  readonly command: string;
  /** Before Harbor's own arguments. */
  readonly args: readonly string[];
}

/** One sentence for people who have no Harbor. */
export const howToGetHarbor =
  'Install Harbor ("uv tool install harbor==0.22.0", Python 3.12 or newer, with Docker Compose v2), or name its command with --harbor.';

/** Bytes kept of what Harbor prints. */
const outputCap = 256 * 1024;
/** What Harbor gets to remove its containers after it was asked to stop. */
const stopGraceMs = 30_000;

/** The command that was named (a path, or words with quotes), else `harbor` on the PATH; undefined where there is none. */
export function findHarbor(
  named: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): HarborCommand | undefined {
  if (named?.trim()) {
    const [command = '', ...args] = isExecutable(named) ? [named] : splitWords(named);
    const found = command.includes('/') || command.includes('\\') ? command : onPath(command, env);
    return found === undefined ? undefined : { command: found, args };
  }
  const found = onPath('harbor', env);
  return found === undefined ? undefined : { command: found, args: [] };
}

export interface HarborRun {
  readonly exitCode: number;
  /** The end of both streams as they came. */
  readonly output: string;
}

/** Runs Harbor to its end. On cancel it is asked to stop, as by Ctrl-C, so that it removes its containers. */
export async function runHarbor(
  harbor: HarborCommand,
  args: readonly string[],
  options: {
    readonly cwd: string;
    readonly env: NodeJS.ProcessEnv;
    readonly signal: AbortSignal;
    readonly onOutput?: (text: string) => void;
  },
): Promise<HarborRun> {
  const child = spawn(harbor.command, [...harbor.args, ...args], {
    cwd: options.cwd,
    // Plain lines: Harbor's boxes are cut at the terminal's width.
    env: { ...options.env, NO_COLOR: '1', TERM: 'dumb', COLUMNS: '200', PYTHONUNBUFFERED: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const take = (text: string): void => {
    output = (output + text).slice(-outputCap);
    options.onOutput?.(text);
  };
  child.stdout.setEncoding('utf8').on('data', take);
  child.stderr.setEncoding('utf8').on('data', take);
  const stop = (): void => {
    child.kill('SIGINT');
    setTimeout(() => child.kill('SIGKILL'), stopGraceMs).unref();
  };
  options.signal.addEventListener('abort', stop, { once: true });
  if (options.signal.aborted) stop();
  try {
    const exitCode = await new Promise<number>((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (code) => resolve(code ?? 1));
    });
    if (options.signal.aborted) throw new CancelledError();
    return { exitCode, output };
  } catch (error) {
    if (error instanceof CancelledError) throw error;
    throw new UserError(`Harbor ("${harbor.command}") cannot be run: ${(error as Error).message}`, {
      nextStep: howToGetHarbor,
      cause: error,
    });
  } finally {
    options.signal.removeEventListener('abort', stop);
  }
}

/** Words between spaces; single and double quotes keep spaces. */
export function splitWords(text: string): string[] {
  return [...text.matchAll(/(?:"([^"]*)"|'([^']*)'|[^\s"']+)+/g)].map(([word]) => word.replace(/["']/g, ''));
}

function onPath(name: string, env: Readonly<Record<string, string | undefined>>): string | undefined {
  const folders = (env.PATH ?? env.Path ?? '').split(path.delimiter).filter(Boolean);
  const names = process.platform === 'win32' ? [`${name}.exe`, `${name}.cmd`, name] : [name];
  return folders.flatMap((folder) => names.map((one) => path.join(folder, one))).find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

import { randomBytes } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { setTimeout as delay } from 'node:timers/promises';
import type { Disposable } from '#core/base/disposable.ts';
import { CancelledError } from '#core/base/errors.ts';
import { Emitter, type Event } from '#core/base/event.ts';
import { type ContainerHandle, EngineError, type InteractiveExec } from './engine.ts';

export interface TerminalSpec {
  /** Default: bash, or sh where there is none, as an interactive shell. */
  readonly command?: readonly string[];
  /** One that is not there is said in the terminal; the shell then starts at `/`. */
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly cols: number;
  readonly rows: number;
  readonly user?: string;
}

export interface ContainerTerminal extends Disposable {
  /**
   * Text, cut between characters only; bytes that are no UTF-8 come as U+FFFD. Nothing is read before the first
   * listener, and nothing while paused: the program inside then waits.
   */
  readonly onData: Event<string>;
  /** Settles when all data was read: the exit code, undefined when the engine or the container was lost. */
  readonly exit: Promise<number | undefined>;
  write(text: string | Uint8Array): void;
  resize(cols: number, rows: number): Promise<void>;
  pause(): void;
  resume(): void;
  /** Hangs up, as closing a terminal does, then kills what is left of its session. */
  kill(): Promise<void>;
}

/**
 * Says its process id, sets the size (the engine starts with 0 x 0) and becomes the command. `$1` marker, `$2` rows,
 * `$3` columns, `$4` folder, then the command.
 */
const startScript = `stty rows "$2" cols "$3" 2>/dev/null
printf '%s%s\\n' "$1" "$$"
cd "$4" 2>/dev/null || { printf 'There is no folder %s.\\n' "$4"; cd /; }
: "\${LANG:=C.UTF-8}"; export LANG
shift 4
if [ $# -gt 0 ]; then exec "$@"; fi
if command -v bash >/dev/null 2>&1; then exec bash -i; fi
exec sh -i`;

/** Signals every process of a session: background jobs have groups of their own. Field 6 of /proc/PID/stat (proc(5)). */
const signalScript = `for f in /proc/[0-9]*/stat; do
  read -r l <"$f" || continue
  p=\${l%% *}; set -- "$1" "$2" \${l##*) }
  [ "$6" = "$2" ] && kill -"$1" "$p"
done 2>/dev/null
:`;

const openDeadlineMs = 10_000;
const hangUpGraceMs = 500;
/** Longest output before the marker: the engine's own words when there is no sh. */
const maxGreeting = 4_096;

/** Opens a terminal in a running container. Errors: `EngineError`. */
export async function openTerminal(
  container: ContainerHandle,
  spec: TerminalSpec,
  signal?: AbortSignal,
): Promise<ContainerTerminal> {
  const marker = randomBytes(12).toString('hex');
  const { rows, cols, cwd, command = [] } = spec;
  const user = spec.user === undefined ? {} : { user: spec.user };
  const execution = await container.interact(
    {
      command: ['sh', '-c', startScript, 'sh', marker, `${rows}`, `${cols}`, cwd, ...command],
      tty: true,
      env: { TERM: 'xterm-256color', COLORTERM: 'truecolor', ...spec.env },
      ...user,
    },
    signal,
  );
  const { stream } = execution;
  stream.on('error', () => undefined);
  const pid = await readMarker(stream, marker);
  // Where stty is missing, this sets the size; elsewhere it changes nothing.
  await execution.resize(cols, rows).catch(() => undefined);
  const terminal = terminalOf(container, execution, pid, user);
  if (signal?.aborted) {
    await terminal.kill();
    throw new CancelledError();
  }
  return terminal;
}

function terminalOf(
  container: ContainerHandle,
  execution: InteractiveExec,
  pid: string,
  user: { readonly user?: string },
): ContainerTerminal {
  const { stream } = execution;
  const emitter = new Emitter<string>();
  const decoder = new StringDecoder('utf8');
  let isPaused = false;
  let isRead = false;
  let isOver = false;

  const exit = new Promise<void>((resolve) => {
    stream.once('end', resolve).once('close', resolve);
  }).then(async () => {
    isOver = true;
    const rest = decoder.end();
    if (rest) emitter.fire(rest);
    try {
      return await execution.exitCode(AbortSignal.timeout(openDeadlineMs));
    } catch {
      return undefined;
    }
  });

  const signalSession = async (name: string): Promise<void> => {
    try {
      const command = ['sh', '-c', signalScript, 'sh', name, pid];
      await container.exec({ command, ...user }, AbortSignal.timeout(openDeadlineMs));
    } catch {
      // Paused, stopped or gone: there is nobody to signal.
    }
  };

  const kill = async (): Promise<void> => {
    if (isOver) return;
    // Unread output would keep the stream open.
    stream.resume();
    await signalSession('HUP');
    await signalSession('CONT');
    await Promise.race([exit, delay(hangUpGraceMs)]);
    await signalSession('KILL');
    stream.destroy();
  };

  return {
    onData(listener) {
      const subscription = emitter.event(listener);
      if (!isRead) {
        isRead = true;
        stream.on('data', (data: Buffer) => {
          const text = decoder.write(data);
          if (text) emitter.fire(text);
        });
        if (isPaused) stream.pause();
        else stream.resume();
      }
      return subscription;
    },
    exit,
    write(text) {
      if (!isOver && stream.writable) stream.write(text);
    },
    resize: (cols, rows) =>
      isOver ? Promise.resolve() : execution.resize(cols, rows).catch(() => undefined),
    pause() {
      isPaused = true;
      stream.pause();
    },
    resume() {
      isPaused = false;
      if (isRead) stream.resume();
    },
    kill,
    dispose() {
      void kill();
      emitter.dispose();
    },
  };
}

/** Takes the first line off the stream; what follows stays in it. */
function readMarker(stream: Duplex, marker: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = Buffer.alloc(0);
    const deadline = AbortSignal.timeout(openDeadlineMs);
    const settle = (pid: string | undefined, why: string): void => {
      stream.off('readable', onReadable).off('end', onEnd).off('close', onEnd);
      deadline.removeEventListener('abort', onLate);
      if (pid !== undefined) {
        resolve(pid);
        return;
      }
      stream.destroy();
      const said = text.toString('utf8').trim().slice(0, 1_000);
      reject(new EngineError('exec-failed', said || `No terminal could be opened: ${why}.`));
    };
    const onReadable = (): void => {
      for (let chunk = stream.read() as Buffer | null; chunk; chunk = stream.read() as Buffer | null) {
        text = Buffer.concat([text, chunk]);
        const end = text.indexOf(10);
        const pid = new RegExp(`^${marker}(\\d+)\\r?$`).exec(
          text.toString('latin1', 0, Math.max(end, 0)),
        )?.[1];
        if (pid !== undefined) {
          if (end + 1 < text.length) stream.unshift(text.subarray(end + 1));
          settle(pid, '');
          return;
        }
        if (text.length > maxGreeting) {
          settle(undefined, 'it did not say its process id');
          return;
        }
      }
    };
    const onEnd = (): void => settle(undefined, 'its process ended');
    const onLate = (): void => settle(undefined, 'no answer');
    stream.on('readable', onReadable).on('end', onEnd).on('close', onEnd);
    deadline.addEventListener('abort', onLate, { once: true });
    onReadable();
  });
}

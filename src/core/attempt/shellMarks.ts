/**
 * Variables that make an interactive bash say where each command begins and ends, in the escape sequences of VS Code's
 * shell integration (OSC 633: E the command, P Cwd, C its start, D its end with its exit code). Other shells say
 * nothing. What it says is the container's word: a builder can make it lie.
 */
export const shellMarkEnv: Readonly<Record<string, string>> = {
  // Looked at anew for each command; `history 1` has the line that was just entered.
  PS0: '$(printf "\\033]633;E;%s\\007\\033]633;P;Cwd=%s\\007\\033]633;C\\007" "$(HISTTIMEFORMAT= history 1 | base64 -w0 2>/dev/null)" "$PWD")',
  PROMPT_COMMAND: 'printf "\\033]633;D;%s\\007" "$?"',
};

const begin = '\u001b]633;';
const finish = '\u0007';
/** A longer sequence is none of ours. */
const maxSequence = 70_000;

export interface ShellCommand {
  readonly text: string;
  readonly cwd: { readonly cwd?: string };
}

/** Takes the marks out of a terminal's output, wherever it is cut, and tells the commands. */
export class ShellMarks {
  readonly #onCommand: (command: ShellCommand) => (exitCode: number | null) => void;
  #held = '';
  #text = '';
  #cwd: string | undefined;
  #ended: ((exitCode: number | null) => void) | undefined;

  /** `onCommand`: one has begun; the result is called at its end. */
  constructor(onCommand: (command: ShellCommand) => (exitCode: number | null) => void) {
    this.#onCommand = onCommand;
  }

  /** The output without marks; an unfinished one at the end waits for the next piece. */
  take(data: string): string {
    let rest = this.#held + data;
    this.#held = '';
    let shown = '';
    for (;;) {
      const at = rest.indexOf(begin);
      if (at < 0) {
        const cut = rest.length - partOf(rest);
        this.#held = rest.slice(cut);
        return shown + rest.slice(0, cut);
      }
      const end = rest.indexOf(finish, at);
      if (end < 0 && rest.length - at <= maxSequence) {
        this.#held = rest.slice(at);
        return shown + rest.slice(0, at);
      }
      if (end < 0) return shown + rest;
      shown += rest.slice(0, at);
      this.#mark(rest.slice(at + begin.length, end));
      rest = rest.slice(end + 1);
    }
  }

  /** The terminal is over; whatever ran is too. */
  end(): void {
    this.#ended?.(null);
    this.#ended = undefined;
  }

  #mark(mark: string): void {
    const [kind, ...values] = mark.split(';');
    const value = values.join(';');
    if (kind === 'E') this.#text = commandOf(value);
    else if (kind === 'P' && value.startsWith('Cwd=')) this.#cwd = value.slice(4);
    else if (kind === 'C') {
      this.end();
      this.#ended = this.#onCommand({
        text: this.#text,
        cwd: this.#cwd === undefined ? {} : { cwd: this.#cwd },
      });
    } else if (kind === 'D') {
      const code = Number.parseInt(value, 10);
      this.#ended?.(Number.isNaN(code) ? null : code);
      this.#ended = undefined;
    }
  }
}

/** How much of the end may be the beginning of a mark. */
function partOf(text: string): number {
  for (let length = Math.min(begin.length - 1, text.length); length > 0; length--)
    if (begin.startsWith(text.slice(text.length - length))) return length;
  return 0;
}

/** `   12  make -j4` of bash's history, in base64: a command may have any character. */
function commandOf(encoded: string): string {
  return Buffer.from(encoded, 'base64')
    .toString('utf8')
    .replace(/^\s*\d+\*?\s{1,2}/, '')
    .replace(/\n$/, '');
}

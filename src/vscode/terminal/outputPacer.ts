import type { Disposable } from '#core/base/disposable.ts';
import { aside } from '#vscode/text.ts';

export interface PacedOutput {
  /** Shows text in the terminal. */
  write(text: string): void;
  /** Stops reading from the program, which then waits once the pipes are full. */
  pause(): void;
  resume(): void;
}

const tickMs = 16;
/** About 1 MB a second: what a renderer without a GPU draws while another terminal still echoes at once. */
const charsPerTick = 16_384;
/** About 8 MB a second are read at most: more would only be thrown away. */
const readPerTick = 131_072;
/** Output up to this size is shown whole, only later; of more, the end. Default scrollback is far smaller. */
const backlogLimit = 1_048_576;
const keptTail = 131_072;
/** After Ctrl-C up to 1.3 MB of old output may still be on its way (fs-channel.md §4). */
const drainMs = 1_000;
const drainLimit = 4_096;
/** Meanwhile nothing is shown before it is over: what is left then is the end, with the prompt. */
const quietMs = 100;

/**
 * Paces what a program prints: VS Code has no flow control for a `Pseudoterminal`, and a flood would freeze every
 * terminal of the window. What is not shown is marked.
 */
export class OutputPacer implements Disposable {
  readonly #output: PacedOutput;
  readonly #now: () => number;
  #backlog = '';
  #skipped = 0;
  #readInTick = 0;
  #isPaused = false;
  #drainUntil = 0;
  #pushedAt = 0;
  #timer: NodeJS.Timeout | undefined;
  #onEmpty: (() => void)[] = [];

  constructor(output: PacedOutput, now: () => number = () => performance.now()) {
    this.#output = output;
    this.#now = now;
  }

  push(text: string): void {
    this.#backlog += text;
    this.#pushedAt = this.#now();
    this.#readInTick += text.length;
    const isDraining = this.#pushedAt < this.#drainUntil;
    const limit = isDraining ? drainLimit : backlogLimit;
    if (this.#backlog.length > limit) this.#skip(isDraining ? drainLimit / 2 : keptTail);
    if (!isDraining && !this.#isPaused && this.#readInTick >= readPerTick) {
      this.#isPaused = true;
      this.#output.pause();
    }
    // The first text after a silence goes out at once: it is an echo.
    if (this.#timer === undefined) this.#tick();
  }

  /** The person interrupts: what is already printed but not shown is old news. */
  interrupt(): void {
    if (this.#backlog === '' && !this.#isPaused) return;
    this.#drainUntil = this.#now() + drainMs;
    this.#skip(0);
    this.#resume();
  }

  /** Resolves when everything was shown. */
  async finish(): Promise<void> {
    if (this.#timer === undefined) return;
    await new Promise<void>((resolve) => {
      this.#onEmpty.push(resolve);
    });
  }

  #tick(): void {
    this.#readInTick = 0;
    const now = this.#now();
    if (now < this.#drainUntil && now - this.#pushedAt < quietMs) {
      this.#timer = setTimeout(() => this.#tick(), tickMs);
      this.#resume();
      return;
    }
    const text = this.#take();
    if (text === '') {
      this.#timer = undefined;
      for (const resolve of this.#onEmpty.splice(0)) resolve();
    } else {
      this.#timer = setTimeout(() => this.#tick(), tickMs);
      this.#output.write(text);
    }
    this.#resume();
  }

  #take(): string {
    let end = Math.min(charsPerTick, this.#backlog.length);
    // Not between the halves of a character.
    if (/[\ud800-\udbff]/.test(this.#backlog.charAt(end - 1)) && end < this.#backlog.length) end++;
    const marker = this.#skipped > 0 ? skippedMarker(this.#skipped) : '';
    this.#skipped = 0;
    const text = marker + this.#backlog.slice(0, end);
    this.#backlog = this.#backlog.slice(end);
    return text;
  }

  /** Drops the oldest text, up to the next line's start: an escape sequence must not be cut. */
  #skip(keep: number): void {
    const cut = Math.max(0, this.#backlog.length - keep);
    const line = keep === 0 ? -1 : this.#backlog.indexOf('\n', cut);
    const start = line < 0 ? cut : line + 1;
    this.#skipped += start;
    this.#backlog = this.#backlog.slice(start);
  }

  #resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#output.resume();
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const resolve of this.#onEmpty.splice(0)) resolve();
  }
}

/** A line of its own, in plain colours: the colours before it are unknown. */
export function skippedMarker(characters: number): string {
  const size =
    characters >= 1_000_000
      ? `${(characters / 1_000_000).toFixed(1)} MB`
      : `${Math.max(1, Math.round(characters / 1000))} KB`;
  return `\u001b[0m\r\n${aside(`[${size} of output not shown]`)}\r\n`;
}

import * as vscode from 'vscode';
import { errorMessage } from '#core/base/errors.ts';
import type { ContainerTerminal } from '#core/container/terminal.ts';
import { createCrlf } from '#vscode/text.ts';
import { OutputPacer } from './outputPacer.ts';

export interface TerminalSize {
  readonly cols: number;
  readonly rows: number;
}

export interface ContainerPtyDeps {
  open(size: TerminalSize, signal: AbortSignal): Promise<ContainerTerminal>;
  /** Why the workspace stands still at the moment; undefined while it does not. */
  frozenBecause(): string | undefined;
  /** Resolves at once unless the workspace is frozen: processes of a paused container cannot be killed. */
  whenThawed(): Promise<void>;
}

const defaultSize: TerminalSize = { cols: 80, rows: 24 };
/** Ctrl-C, Ctrl-Z, Ctrl-\: the person wants what floods the terminal to stop. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are control characters.
const interrupts = /[\u0003\u001a\u001c]/;

/** A terminal in the container: no program of this machine takes part, only the engine's connection. */
export class ContainerPty implements vscode.Pseudoterminal {
  readonly #deps: ContainerPtyDeps;
  readonly #write = new vscode.EventEmitter<string>();
  readonly #close = new vscode.EventEmitter<number | undefined>();
  readonly #abort = new AbortController();
  readonly #pacer: OutputPacer;
  #terminal: ContainerTerminal | undefined;
  #typedEarly = '';
  #size = defaultSize;
  #isOver = false;
  #saidFrozen = false;

  readonly onDidWrite = this.#write.event;
  readonly onDidClose = this.#close.event;

  constructor(deps: ContainerPtyDeps) {
    this.#deps = deps;
    this.#pacer = new OutputPacer({
      write: (text) => this.#write.fire(text),
      pause: () => this.#terminal?.pause(),
      resume: () => this.#terminal?.resume(),
    });
  }

  open(dimensions: vscode.TerminalDimensions | undefined): void {
    if (dimensions) this.#size = { cols: dimensions.columns, rows: dimensions.rows };
    void this.#run();
  }

  async #run(): Promise<void> {
    const size = this.#size;
    try {
      await this.#deps.whenThawed();
      const terminal = await this.#deps.open(size, this.#abort.signal);
      if (this.#abort.signal.aborted) {
        terminal.dispose();
        return;
      }
      this.#terminal = terminal;
      terminal.onData((text) => this.#pacer.push(text));
      if (this.#size !== size) void terminal.resize(this.#size.cols, this.#size.rows);
      if (this.#typedEarly !== '') terminal.write(this.#typedEarly);
      const code = await terminal.exit;
      await this.#pacer.finish();
      if (code === undefined) this.#end('The connection to the container was lost.');
      else this.#close.fire(code);
    } catch (error) {
      if (!this.#abort.signal.aborted) this.#end(errorMessage(error));
    }
  }

  /** Says why and stays until a key is pressed: VS Code takes a closed terminal away at once. */
  #end(why: string): void {
    this.#isOver = true;
    const text = createCrlf()(why);
    this.#write.fire(`\r\n\u001b[31m${text}\u001b[0m\r\nPress any key to close the terminal.\r\n`);
  }

  handleInput(data: string): void {
    if (this.#isOver) {
      this.#close.fire(undefined);
      return;
    }
    const frozen = this.#deps.frozenBecause();
    if (frozen !== undefined) {
      if (!this.#saidFrozen) this.#write.fire(`\r\n\u001b[2m[${frozen}]\u001b[0m\r\n`);
      this.#saidFrozen = true;
      return;
    }
    this.#saidFrozen = false;
    if (!this.#terminal) {
      this.#typedEarly += data;
      return;
    }
    if (interrupts.test(data)) this.#pacer.interrupt();
    this.#terminal.write(data);
  }

  setDimensions(dimensions: vscode.TerminalDimensions): void {
    this.#size = { cols: dimensions.columns, rows: dimensions.rows };
    void this.#terminal?.resize(this.#size.cols, this.#size.rows);
  }

  close(): void {
    this.#abort.abort();
    this.#pacer.dispose();
    const terminal = this.#terminal;
    this.#terminal = undefined;
    if (!terminal) return;
    void this.#deps.whenThawed().then(() => terminal.dispose());
  }
}

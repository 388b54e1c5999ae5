import * as vscode from 'vscode';
import { errorMessage } from '#core/base/errors.ts';
import type { ContainerTerminal } from '#core/container/terminal.ts';
import { aside, createCrlf } from '#vscode/text.ts';
import { OutputPacer } from './outputPacer.ts';

export interface TerminalSize {
  readonly cols: number;
  readonly rows: number;
}

export interface ContainerPtyDeps {
  open(size: TerminalSize, signal: AbortSignal): Promise<ContainerTerminal>;
  /** Why the workspace stands still at the moment; undefined while it does not. */
  frozenBecause(): string | undefined;
  /**
   * Resolves at once unless the workspace is frozen: processes of a paused container cannot be killed. False: it is
   * not thawed for this terminal any more.
   */
  whenThawed(): Promise<boolean>;
}

/** Of what was ended by SIGKILL: VS Code would only tell the number. */
const killedCode = 137;

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
  /** Typed since the workspace is frozen; undefined while nothing waits. */
  #held: string | undefined;
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
    this.#sayFrozen();
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
      else if (code === killedCode)
        this.#end('The shell was killed: its container was stopped, or ran out of memory.');
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
    if (this.#held !== undefined || this.#deps.frozenBecause() !== undefined) this.#hold(data);
    else this.#type(data);
  }

  /**
   * What is typed into a frozen workspace waits here and is typed once it is thawed: all of it, in order, once. An
   * interrupt takes the place of what waits, as it would drop a line.
   */
  #hold(data: string): void {
    this.#sayFrozen();
    const isFirst = this.#held === undefined;
    this.#held = interrupts.test(data) ? data : (this.#held ?? '') + data;
    if (!isFirst) return;
    void this.#deps.whenThawed().then((isThawed) => {
      const held = this.#held ?? '';
      this.#held = undefined;
      this.#saidFrozen = false;
      if (isThawed && !this.#isOver && !this.#abort.signal.aborted) this.#type(held);
    });
  }

  /** One line a freeze, when the person first meets it. */
  #sayFrozen(): void {
    const why = this.#deps.frozenBecause();
    if (why === undefined || this.#saidFrozen) return;
    this.#saidFrozen = true;
    this.#write.fire(`\r\n${aside(`[${why} What you type waits.]`)}\r\n`);
  }

  #type(data: string): void {
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

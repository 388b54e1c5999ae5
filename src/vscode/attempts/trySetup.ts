import * as vscode from 'vscode';
import type { SetupResult } from '#core/attempt/types.ts';
import { errorMessage, isCancellation, UserError } from '#core/base/errors.ts';
import type { CommandHandler } from '#vscode/commands/commandIds.ts';
import { elapsedLabel } from '#vscode/grading/words.ts';
import { OutputPacer } from '#vscode/terminal/outputPacer.ts';
import { aside, createCrlf } from '#vscode/text.ts';
import type { WorkspaceSessions } from '#vscode/workspace/workspaceSessions.ts';
import { cannot, saveAll } from './gradeAttempt.ts';
import { requireWindowAttempt } from './pickAttempt.ts';
import type { AttemptRoom } from './ports.ts';

export interface TrySetupDeps {
  readonly room: Pick<AttemptRoom, 'trySetup'>;
  readonly sessions: WorkspaceSessions;
}

/**
 * Runs only setup.sh of the workspace, in a fresh offline container, and shows what it prints and changes in a
 * terminal: that reveals nothing hidden. Ctrl-C or closing the terminal stops it.
 */
export function trySetup({ room, sessions }: TrySetupDeps): CommandHandler {
  return async () => {
    const id = requireWindowAttempt();
    const session = await sessions.get(id);
    if (session.readOnly !== undefined) throw cannot('tried', session.readOnly);
    await saveAll();
    const pty = new SetupPty((onOutput, signal) => room.trySetup(id, onOutput, signal));
    const iconPath = new vscode.ThemeIcon('tools');
    vscode.window.createTerminal({ name: 'Try setup', pty, iconPath }).show(true);
    // Not awaited: the terminal tells how it ends.
  };
}

type Run = (onOutput: (text: string) => void, signal: AbortSignal) => Promise<SetupResult>;

class SetupPty implements vscode.Pseudoterminal {
  readonly #run: Run;
  readonly #write = new vscode.EventEmitter<string>();
  readonly #close = new vscode.EventEmitter<void>();
  readonly #abort = new AbortController();
  readonly #pacer = new OutputPacer({
    write: (text) => this.#write.fire(text),
    pause: () => undefined,
    resume: () => undefined,
  });
  #isOver = false;

  readonly onDidWrite = this.#write.event;
  readonly onDidClose = this.#close.event;

  constructor(run: Run) {
    this.#run = run;
  }

  open(): void {
    void this.#begin();
  }

  async #begin(): Promise<void> {
    const crlf = createCrlf();
    this.#write.fire(
      `${aside('setup.sh of the workspace as it is now, in a fresh offline container. Ctrl-C stops it.')}\r\n`,
    );
    try {
      const result = await this.#run((text) => this.#pacer.push(crlf(text)), this.#abort.signal);
      await this.#pacer.finish();
      this.#write.fire(`\r\n${setupReport(result)}\r\n`);
    } catch (error) {
      await this.#pacer.finish();
      const next = error instanceof UserError && error.nextStep ? ` ${error.nextStep}` : '';
      const text = isCancellation(error) ? 'Stopped.' : `${errorMessage(error)}${next}`;
      this.#write.fire(`\r\n\u001b[31m${createCrlf()(text)}\u001b[0m\r\n`);
    }
    this.#isOver = true;
    this.#write.fire(`${aside('Press any key to close the terminal.')}\r\n`);
  }

  handleInput(data: string): void {
    if (this.#isOver) this.#close.fire();
    else if (data.includes('\u0003')) this.#abort.abort();
  }

  close(): void {
    this.#abort.abort();
    this.#pacer.dispose();
  }
}

const shownChanges = 200;

/** How setup.sh ended and what it changed, as lines of a terminal. */
export function setupReport({ exitCode, durationMs, changed }: SetupResult): string {
  const colour = exitCode === 0 ? '\u001b[32m' : '\u001b[31m';
  const how = exitCode === 0 ? 'succeeded' : `failed with exit code ${exitCode}`;
  const head = `${colour}setup.sh ${how} after ${elapsedLabel(durationMs)}.\u001b[0m`;
  if (changed.length === 0) return `${head} It changed nothing.`;
  const rest = changed.length - shownChanges;
  // A name may hold escape sequences: it is shown as JSON has it.
  const paths = changed.slice(0, shownChanges).map((path) => `  ${JSON.stringify(path).slice(1, -1)}`);
  return [`${head} It changed:`, ...paths, ...(rest > 0 ? [`  and ${rest} more`] : [])].join('\r\n');
}

import * as vscode from 'vscode';
import type { OutsideReveal } from '#core/attempt/outsideReveals.ts';
import type { AttemptRecord } from '#core/attempt/types.ts';
import { CancelledError } from '#core/base/errors.ts';
import type { AttemptRoom } from './ports.ts';

/** A task, or one that was graded: of the content that it had then, too. */
export interface RevealingTask {
  readonly name: string;
  readonly dir: string;
  readonly gradedDigest?: string;
  /** An attempt that it is not about. */
  readonly except?: string;
}

const showIt = 'Show and record';

/** Stands before everything that shows hidden tests of a task elsewhere than in its attempts' own grades. */
export class RevealGate {
  readonly #room: Pick<AttemptRoom, 'underWayAt' | 'revealed'>;
  readonly #passed = new Set<string>();

  constructor(room: Pick<AttemptRoom, 'underWayAt' | 'revealed'>) {
    this.#room = room;
  }

  /**
   * Asks first where a measured attempt at the task has not ended; what is shown goes into the record of every attempt
   * at it that has not. Errors: `CancelledError` where the person would rather not.
   */
  async pass(task: RevealingTask, reveal: OutsideReveal): Promise<void> {
    const attempts = await this.#underWay(task);
    await ask(task, attempts);
    for (const { id } of attempts) this.#passed.add(`${id} ${reveal.of}`);
    if (attempts.length > 0) await this.#room.revealed(attempts, reveal);
  }

  /** As `pass`, for what core records itself. */
  async confirm(task: RevealingTask): Promise<void> {
    await ask(task, await this.#underWay(task));
  }

  /** Why something that shows itself is not shown; undefined where it may be, or was let pass by its name before. */
  async closedBecause(task: RevealingTask, of = ''): Promise<string | undefined> {
    const measured = (await this.#underWay(task)).find(
      (attempt) => isMeasured(attempt) && !this.#passed.has(`${attempt.id} ${of}`),
    );
    return measured && `Not shown while the measured attempt ${measured.id} at ${task.name} is open.`;
  }

  async #underWay({ dir, gradedDigest, except }: RevealingTask): Promise<readonly AttemptRecord[]> {
    const attempts = await this.#room.underWayAt(dir, gradedDigest);
    return attempts.filter(({ id }) => id !== except);
  }
}

function isMeasured({ protocol }: AttemptRecord): boolean {
  return protocol !== undefined;
}

async function ask({ name }: RevealingTask, attempts: readonly AttemptRecord[]): Promise<void> {
  const measured = attempts.find(isMeasured);
  if (!measured) return;
  const answer = await vscode.window.showWarningMessage(
    `Show hidden tests of ${name} while an attempt at it is measured?`,
    {
      modal: true,
      detail: `The attempt ${measured.id} has not ended. What is shown here goes beyond what its grades show, and that it was shown is kept in its record.`,
    },
    showIt,
  );
  if (answer !== showIt) throw new CancelledError();
}

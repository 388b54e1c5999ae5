import { isOver } from '#core/attempt/states.ts';
import { isCancellation, UserError } from '#core/base/errors.ts';
import type { AttemptGraderDeps } from '#vscode/attempts/attemptGrader.ts';
import { pickAttempt, requireWindowAttempt } from '#vscode/attempts/pickAttempt.ts';
import type { CommandHandler } from '#vscode/commands/commandIds.ts';
import type { Notifier } from '#vscode/notify.ts';
import { askDebrief } from './debriefForm.ts';

export interface DebriefDeps extends AttemptGraderDeps {
  readonly notifier: Notifier;
}

/** Asks the builder how a measured attempt was, once it is over; again, to change what was said. */
export function fillInDebrief(deps: DebriefDeps): CommandHandler {
  return async (argument) => {
    const record = await pickAttempt(deps.room, argument, { title: 'Fill in the debrief', ofWindow: true });
    if (!record.protocol)
      throw new UserError('This attempt is practice: it has no debrief.', {
        nextStep: 'Start a measured attempt to be asked for one.',
      });
    if (!isOver(record.state))
      throw new UserError('The debrief is filled in when the attempt is over.', {
        nextStep: 'Submit it or give it up; until then, add notes.',
      });
    const debrief = await askDebrief(record.task.name, record.debrief);
    await deps.room.debrief(record.id, debrief);
    await takeOver(deps, record.id);
    deps.notifier.info(`The debrief of the attempt at ${record.task.name} is kept.`);
  };
}

/** What the window shows of it is the newest. */
async function takeOver({ room, sessions, attempts }: DebriefDeps, id: string): Promise<void> {
  const session = sessions.current(id);
  if (session) session.record = await room.read(id);
  await attempts.reload();
}

/** A command that may end this window's attempt; the builder of a measured one is asked how it was, then. */
export function thenDebrief(deps: DebriefDeps, end: CommandHandler): CommandHandler {
  const ask = fillInDebrief(deps);
  return async (argument) => {
    await end(argument);
    const { id, state, protocol, debrief } = await deps.room.read(requireWindowAttempt());
    if (!isOver(state) || !protocol || debrief) return;
    try {
      await ask(id);
    } catch (error) {
      if (!isCancellation(error)) throw error;
      offerDebrief(deps.notifier, 'The debrief can be filled in later.', () => ask(id));
    }
  };
}

export function offerDebrief(notifier: Notifier, why: string, ask: () => unknown): void {
  notifier.info(why, { title: 'Fill in the debrief…', run: ask });
}

import { type EngineStatus, engineLabel } from '#vscode/engine/engineStatus.ts';
import type { Notifier } from '#vscode/notify.ts';
import type { Engine } from '#vscode/ports.ts';
import type { CommandHandler } from './commandIds.ts';

export interface CheckEngineDeps {
  readonly engine: EngineStatus<Engine>;
  readonly notifier: Notifier;
  readonly showLog: () => void;
  readonly chooseEngine: () => unknown;
}

/** Asks the engine now and says what answered, or what was tried. */
export function checkEngine({ engine, notifier, showLog, chooseEngine }: CheckEngineDeps): CommandHandler {
  return async () => {
    const state = await engine.check();
    const choose = { title: 'Choose engine', run: chooseEngine };
    if (state.kind === 'ready')
      notifier.info(`The container engine answers: ${engineLabel(state.info)}.`, choose);
    if (state.kind === 'missing') {
      const message = [state.message, state.nextStep].filter(Boolean).join(' ');
      notifier.error(message, choose, { title: 'Show log', run: showLog });
    }
  };
}

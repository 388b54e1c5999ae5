import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '#core/base/disposable.ts';
import { CancelledError } from '#core/base/errors.ts';

/** What was answered so far, by the key of the step. */
export type Answers = Readonly<Record<string, string>>;

interface StepBase {
  readonly key: string;
  /** The question. */
  readonly ask: string;
  /** Absent: always. */
  readonly isAsked?: (answers: Answers) => boolean;
}

export interface ChoiceStep extends StepBase {
  readonly kind: 'choice';
  readonly items: readonly { readonly value: string; readonly label: string; readonly detail?: string }[];
}

export interface TextStep extends StepBase {
  readonly kind: 'text';
  readonly example?: string;
  /** The sentence that is wrong with it. */
  readonly check?: (text: string) => string | undefined;
}

export type Step = ChoiceStep | TextStep;

/** The place of a step in its form, as VS Code shows it; a form of one step has none. */
interface Place {
  readonly title: string;
  readonly step: number | undefined;
  readonly totalSteps: number | undefined;
  readonly hasBack: boolean;
}

const back = Symbol('back');

/**
 * Asks one step after the other, with a way back; what was answered before is proposed again. Rejects with
 * `CancelledError` when the person leaves by Escape: then nothing was done.
 */
export async function askSteps(title: string, steps: readonly Step[], before: Answers): Promise<Answers> {
  let answers = before;
  for (let at = 0; ; ) {
    const asked = steps.filter((step) => step.isAsked?.(answers) ?? true);
    const step = asked[at];
    if (!step) return Object.fromEntries(asked.map(({ key }) => [key, answers[key] ?? '']));
    const isForm = asked.length > 1;
    const place: Place = {
      title,
      step: isForm ? at + 1 : undefined,
      totalSteps: isForm ? asked.length : undefined,
      hasBack: at > 0,
    };
    const proposed = answers[step.key];
    const answer = await (step.kind === 'choice'
      ? askChoice(step, place, proposed)
      : askText(step, place, proposed));
    if (answer === back) at--;
    else {
      answers = { ...answers, [step.key]: answer };
      at++;
    }
  }
}

function askChoice(step: ChoiceStep, place: Place, proposed: string | undefined) {
  const picker = vscode.window.createQuickPick<vscode.QuickPickItem & { readonly value: string }>();
  picker.placeholder = step.ask;
  picker.items = step.items.map((item) => ({ ...item }));
  const active = picker.items.filter(({ value }) => value === proposed);
  // An empty list would take the focus from the first one.
  if (active.length > 0) picker.activeItems = active;
  return show(picker, place, (accept) =>
    picker.onDidAccept(() => {
      const picked = picker.selectedItems[0];
      if (picked) accept(picked.value);
    }),
  );
}

function askText(step: TextStep, place: Place, proposed: string | undefined) {
  const box = vscode.window.createInputBox();
  box.prompt = step.ask;
  box.placeholder = step.example;
  box.value = proposed ?? '';
  const check = (): boolean => {
    box.validationMessage = step.check?.(box.value.trim());
    return box.validationMessage === undefined;
  };
  return show(box, place, (accept) => {
    const store = new DisposableStore();
    // What is wrong is said at the end of the step; while it is put right, the mark goes away.
    const onChange = (): unknown => box.validationMessage !== undefined && check();
    store.add(box.onDidChangeValue(onChange));
    store.add(
      box.onDidAccept(() => {
        if (check()) accept(box.value.trim());
      }),
    );
    return store;
  });
}

function show(
  input: vscode.QuickInput & Pick<vscode.QuickPick<never>, 'buttons' | 'onDidTriggerButton'>,
  { title, step, totalSteps, hasBack }: Place,
  onAnswer: (accept: (answer: string) => void) => Disposable,
): Promise<string | typeof back> {
  const store = new DisposableStore();
  Object.assign(input, { title, step, totalSteps, ignoreFocusOut: true });
  input.buttons = hasBack ? [vscode.QuickInputButtons.Back] : [];
  return new Promise<string | typeof back>((resolve, reject) => {
    store.add(onAnswer(resolve));
    store.add(input.onDidTriggerButton(() => resolve(back)));
    store.add(input.onDidHide(() => reject(new CancelledError())));
    input.show();
  }).finally(() => {
    store.dispose();
    input.dispose();
  });
}

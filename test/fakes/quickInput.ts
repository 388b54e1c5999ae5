import { EventEmitter } from './basics.ts';

export const back = '(back)';

interface Item {
  readonly label: string;
}

type Pick = string | ((items: readonly Item[]) => Item | undefined);

/** What answers the inputs that open, and what they showed: "title (2/5): question [proposed] !what is wrong". */
export interface Answering {
  picks: Pick[];
  inputs: (string | undefined)[];
  offered: string[][];
  asked: string[];
}

class FakeInput {
  title = '';
  step: number | undefined;
  totalSteps: number | undefined;
  buttons: readonly unknown[] = [];
  readonly accepted = new EventEmitter<void>();
  readonly hidden = new EventEmitter<void>();
  readonly button = new EventEmitter<unknown>();
  readonly onDidAccept = this.accepted.event;
  readonly onDidHide = this.hidden.event;
  readonly onDidTriggerButton = this.button.event;

  protected tell(ask: string, proposed: string): string {
    const place = this.step === undefined ? '' : ` (${this.step}/${this.totalSteps})`;
    return `${this.title}${place}: ${ask}${proposed && ` [${proposed}]`}`;
  }

  /** True where that was the answer. */
  protected leave(answer: unknown): boolean {
    if (answer === undefined) this.hidden.fire();
    else if (answer === back) this.button.fire(this.buttons[0]);
    return answer === undefined || answer === back;
  }

  dispose(): void {
    this.hidden.fire();
  }
}

export class FakeQuickPick extends FakeInput {
  placeholder = '';
  items: readonly Item[] = [];
  activeItems: readonly Item[] = [];
  selectedItems: readonly Item[] = [];
  readonly #fake: Answering;

  constructor(fake: Answering) {
    super();
    this.#fake = fake;
  }

  show(): void {
    const fake = this.#fake;
    fake.asked.push(this.tell(this.placeholder, this.activeItems.map(({ label }) => label).join()));
    fake.offered.push(this.items.map(({ label }) => label));
    const pick = fake.picks.shift();
    if (this.leave(pick)) return;
    const found =
      typeof pick === 'string' ? this.items.find(({ label }) => label.includes(pick)) : pick?.(this.items);
    if (!found)
      throw new Error(`Nothing to pick: ${String(pick)} of ${this.items.map(({ label }) => label)}`);
    this.selectedItems = [found];
    this.accepted.fire();
  }
}

export class FakeInputBox extends FakeInput {
  prompt = '';
  value = '';
  placeholder: string | undefined;
  validationMessage: string | undefined;
  readonly changed = new EventEmitter<string>();
  readonly onDidChangeValue = this.changed.event;
  readonly #fake: Answering;

  constructor(fake: Answering) {
    super();
    this.#fake = fake;
  }

  show(): void {
    const fake = this.#fake;
    for (let wrong: string | undefined = ''; wrong !== undefined; wrong = this.validationMessage) {
      const mark = wrong === '' ? '' : ` !${wrong}`;
      fake.asked.push(`${this.tell(this.prompt, this.value)}${mark}`);
      const answer = fake.inputs.shift();
      if (this.leave(answer)) return;
      this.value = answer ?? '';
      this.changed.fire(this.value);
      this.accepted.fire();
    }
  }
}

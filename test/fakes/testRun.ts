import type { FakeTestItem } from './testItems.ts';
import type { CancellationTokenSource, TestMessage, TestRunRequest } from './vscode.ts';

/** One run, as it was told to VS Code. */
export class FakeRun {
  readonly log: string[] = [];
  readonly token: CancellationTokenSource['token'];
  output = '';
  ended = 0;
  constructor(
    readonly request: TestRunRequest,
    readonly name: string | undefined,
    readonly source: CancellationTokenSource,
  ) {
    this.token = source.token;
  }
  readonly #state = (state: string, item: FakeTestItem, message?: TestMessage) => {
    if (this.ended) throw new Error(`${state} after end`);
    const where =
      message?.location && ` @ ${message.location.uri.path}:${message.location.range.start.line + 1}`;
    const diff =
      message?.expectedOutput !== undefined && ` [${message.expectedOutput} != ${message.actualOutput}]`;
    this.log.push(
      `${state} ${item.label}${message ? `: ${message.message}` : ''}${diff || ''}${where || ''}`,
    );
  };
  enqueued = (item: FakeTestItem) => this.#state('enqueued', item);
  started = (item: FakeTestItem) => this.#state('started', item);
  passed = (item: FakeTestItem) => this.#state('passed', item);
  skipped = (item: FakeTestItem) => this.#state('skipped', item);
  failed = (item: FakeTestItem, message: TestMessage) => this.#state('failed', item, message);
  errored = (item: FakeTestItem, message: TestMessage) => this.#state('errored', item, message);
  appendOutput = (text: string) => {
    this.output += text;
  };
  end = () => {
    this.ended++;
  };
}

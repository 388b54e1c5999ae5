import path from 'node:path';
import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '#core/base/disposable.ts';
import type { GradeResult } from '#core/grading/types.ts';
import type { Task } from '#core/task/types.ts';
import { resultSentence } from '#vscode/grading/tellResult.ts';
import { createCrlf } from '#vscode/text.ts';
import { isWorkspaceTask } from '#vscode/trust.ts';
import { locateTests } from './locateTests.ts';
import { type MessagePlace, type PlannedItem, planItems } from './planItems.ts';
import { buildChildren, publishOutcomes } from './publishItems.ts';
import { controllerId, taskItemId } from './testIds.ts';

/** A grade on its way through the Testing view. `end` must be called, whatever happened. */
export interface OpenRun {
  /** Fires when the person stops the run in the Testing view. */
  readonly token: vscode.CancellationToken;
  started(): void;
  output(chunk: string): void;
  hadOutput(): boolean;
  /** `messagePlaces`, by the tests' ids: lines of the workspace that their messages are about. */
  finish(result: GradeResult, messagePlaces?: ReadonlyMap<string, MessagePlace>): Promise<void>;
  /** The grade broke before it had a result. */
  fail(text: string): void;
  cancelled(): void;
  end(): void;
}

/** What the person asked for in the Testing view: grade these tasks again. */
export type RunHandler = (
  tasks: readonly Task[],
  request: vscode.TestRunRequest,
  token: vscode.CancellationToken,
) => Promise<void>;

/** The Testing view: one item a task, below it the suites and hidden tests of the grade shown last. */
export class HiddenTests implements Disposable {
  readonly controller: vscode.TestController;
  readonly #store = new DisposableStore();
  readonly #profile: vscode.TestRunProfile;
  readonly #tasks = new WeakMap<vscode.TestItem, Task>();
  /** What each task shows now; tests read it, since VS Code does not tell results. */
  readonly shown = new Map<string, PlannedItem>();

  constructor(runHandler: RunHandler) {
    this.controller = this.#store.add(vscode.tests.createTestController(controllerId, 'E2E-SWE'));
    this.#profile = this.controller.createRunProfile(
      'Grade',
      vscode.TestRunProfileKind.Run,
      (request, token) => runHandler(this.#requestedTasks(request), request, token),
      true,
    );
  }

  /** Takes over the list of tasks; the tests of tasks that stay are kept. */
  sync(tasks: readonly Task[]): void {
    const items = tasks.map((task) => {
      const item = this.controller.items.get(taskItemId(task)) ?? this.#createTaskItem(task);
      this.#tasks.set(item, task);
      return item;
    });
    this.controller.items.replace(items);
  }

  /** Begins a run for one grade. With a request of the Testing view, the run belongs to that request. */
  start(task: Task, name: string, request?: vscode.TestRunRequest): OpenRun {
    const item = this.#taskItem(task);
    const run = this.controller.createTestRun(
      request ?? new vscode.TestRunRequest([item], undefined, this.#profile),
      name,
    );
    const crlf = createCrlf();
    let ended = false;
    let outputSeen = false;
    run.enqueued(item);
    return {
      token: run.token,
      started: () => run.started(item),
      output: (chunk) => {
        outputSeen ||= chunk !== '';
        run.appendOutput(crlf(chunk));
      },
      hadOutput: () => outputSeen,
      finish: async (result, messagePlaces) => this.#publish(run, item, task, result, messagePlaces),
      fail: (text) => run.errored(item, new vscode.TestMessage(text)),
      cancelled: () => {
        run.appendOutput('The grade was cancelled.\r\n');
        run.skipped(item);
      },
      end: () => {
        if (!ended) run.end();
        ended = true;
      },
    };
  }

  /** Shows a stored grade as a run of its own, with the verifier's log as its output. */
  async show(task: Task, name: string, result: GradeResult, log: string | undefined): Promise<void> {
    const run = this.start(task, name);
    try {
      run.started();
      if (log !== undefined) run.output(log);
      await run.finish(result);
    } finally {
      run.end();
    }
  }

  /** The task of an item of ours, or of the nearest item above it. */
  taskOf(item: vscode.TestItem): Task | undefined {
    for (let at: vscode.TestItem | undefined = item; at; at = at.parent) {
      const task = this.#tasks.get(at);
      if (task) return task;
    }
    return undefined;
  }

  async #publish(
    run: vscode.TestRun,
    item: vscode.TestItem,
    task: Task,
    result: GradeResult,
    messagePlaces?: ReadonlyMap<string, MessagePlace>,
  ): Promise<void> {
    // Hidden tests are shown to their author alone; others get names and messages, no files.
    const places = isWorkspaceTask(task) ? await locateTests(task, result.tests) : new Map();
    const planned = planItems(item.id, task.name, result, places, messagePlaces);
    buildChildren(this.controller, item, planned.children);
    item.label = planned.label;
    this.shown.set(task.dir, planned);
    await publishOutcomes(run, item, planned);
    run.appendOutput(createCrlf()(`\n${resultSentence(result)}\n`));
  }

  #taskItem(task: Task): vscode.TestItem {
    const known = this.controller.items.get(taskItemId(task));
    if (known) return known;
    const item = this.#createTaskItem(task);
    this.controller.items.add(item);
    return item;
  }

  #createTaskItem(task: Task): vscode.TestItem {
    const item = this.controller.createTestItem(
      taskItemId(task),
      task.name,
      vscode.Uri.file(path.join(task.dir, 'task.toml')),
    );
    item.sortText = task.name;
    this.#tasks.set(item, task);
    return item;
  }

  /** The tasks that a request is about, each once: a hidden test cannot run without the others. */
  #requestedTasks(request: vscode.TestRunRequest): readonly Task[] {
    const items = request.include ?? [...this.controller.items].map(([, item]) => item);
    const excluded = new Set((request.exclude ?? []).map((item) => item.id));
    const tasks = items.filter((item) => !excluded.has(item.id)).map((item) => this.taskOf(item));
    return [...new Set(tasks.filter((task) => task !== undefined))];
  }

  dispose(): void {
    this.#store.dispose();
  }
}

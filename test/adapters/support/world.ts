import type * as vscode from 'vscode';
import type { Log } from '#core/base/log.ts';
import type { GradeResult, SubmissionSource } from '#core/grading/types.ts';
import type { Task, TaskEntry } from '#core/task/types.ts';
import { AttemptIndex } from '#vscode/attempts/attemptIndex.ts';
import { RevealGate } from '#vscode/attempts/revealGate.ts';
import { createErrorReporter } from '#vscode/commands/reportError.ts';
import { TaskIndex } from '#vscode/corpora/taskIndex.ts';
import { ImportIndex } from '#vscode/exports/importIndex.ts';
import { GradeIndex } from '#vscode/grades/gradeIndex.ts';
import { KeptIndex } from '#vscode/grades/keptIndex.ts';
import { GradeQueue } from '#vscode/grading/gradeQueue.ts';
import { createNotifier } from '#vscode/notify.ts';
import type { Grader } from '#vscode/ports.ts';
import { type GradeAgainDeps, gradeAgain } from '#vscode/testing/gradeAgain.ts';
import { HiddenTests } from '#vscode/testing/hiddenTests.ts';
import { TasksTree } from '#vscode/tree/tasksTree.ts';
import { fake } from '../../fakes/vscode.ts';
import { FakeRoom } from './attempts.ts';
import { FakeStore } from './builders.ts';
import { FakeKept } from './kept.ts';

const level =
  (name: string) =>
  (text: string): void => {
    fake.channel.push(`${name} ${text}`);
  };

const log: Log = {
  trace: level('trace'),
  debug: level('debug'),
  info: level('info'),
  warn: level('warn'),
  error: level('error'),
};

/** Everything between core and VS Code, joined as `extension.ts` does, over one corpus and a scripted grader. */
export async function makeWorld(entries: readonly TaskEntry[], grader: Grader, storeDir = '/none') {
  fake.reset();
  const store = new FakeStore();
  const index = new TaskIndex({
    reader: { discover: async () => entries, find: async () => entries },
    folders: () => [{ kind: 'configured', path: '/c', label: 'c', setting: '/c' }],
    log,
  });
  const grades = new GradeIndex(store, log);
  const queue = new GradeQueue();
  const notifier = createNotifier(log);
  const showLog = (): void => {
    fake.opened.push('log');
  };
  const reportError = createErrorReporter(log, notifier, showLog);
  const tests: HiddenTests = new HiddenTests((...request) => rerun(...request));
  const containers = new FakeKept();
  const storing: Grader = async function* grade(
    task: Task,
    source: SubmissionSource,
    signal: AbortSignal,
    keep,
  ) {
    for await (const event of grader(task, source, signal, keep)) {
      if (event.kind === 'finished') store.add(event.result);
      if (event.kind === 'finished' && keep) containers.dirs.add(event.result.dir);
      yield event;
    }
  };
  const revealed: string[] = [];
  const remembered = new Map<string, unknown>();
  const room = new FakeRoom();
  const gate = new RevealGate(room);
  const memory = {
    get: (key: string) => remembered.get(key),
    update: async (key: string, value: unknown) => {
      remembered.set(key, value);
    },
  };
  const deps = {
    gate,
    ...{ index, grades, queue, tests, notifier, showLog, reportError, log },
    grader: storing,
    revealTask: async (dir: string): Promise<void> => {
      revealed.push(dir);
    },
    memory,
  } satisfies GradeAgainDeps;
  const rerun = gradeAgain(deps);
  const attempts = new AttemptIndex(room, log);
  const kept = new KeptIndex(containers, log);
  const imports = new ImportIndex({ index, storeDir: () => storeDir, log });
  const tree = new TasksTree({ index, grades, queue, attempts, imports, kept, gate });
  index.onDidChange(() => tests.sync(index.tasks));
  await index.refresh();
  return {
    ...deps,
    personMemory: memory,
    store,
    room,
    attempts,
    imports,
    storeDir: () => storeDir,
    kept,
    containers,
    tree,
    revealed,
    items: tests.controller.items as vscode.TestItemCollection,
  };
}

/** A grader that tells a whole grade ending in this result. */
export function gradesTo(resultOf: (task: Task) => GradeResult): Grader {
  return async function* grade(task) {
    yield { kind: 'phase', phase: 'image', title: 'Building the image' };
    yield { kind: 'progress', message: 'Step 1/3' };
    yield { kind: 'phase', phase: 'verify', title: 'Running the hidden tests' };
    yield { kind: 'output', chunk: 'collected 3 items\n' };
    yield { kind: 'finished', result: resultOf(task) };
  };
}

import * as vscode from 'vscode';
import { DisposableStore } from '#core/base/disposable.ts';
import { errorMessage, isCancellation } from '#core/base/errors.ts';
import type { Log } from '#core/base/log.ts';
import type { GradeResult, SubmissionSource } from '#core/grading/types.ts';
import type { Task } from '#core/task/types.ts';
import { abortOn } from '#vscode/cancellation.ts';
import { readVerifierLog } from '#vscode/documents/gradeLog.ts';
import type { GradeIndex } from '#vscode/grades/gradeIndex.ts';
import type { Grader } from '#vscode/ports.ts';
import type { HiddenTests, OpenRun } from '#vscode/testing/hiddenTests.ts';
import type { MessagePlace } from '#vscode/testing/planItems.ts';
import { withoutLinks } from '#vscode/text.ts';
import { requireTrust } from '#vscode/trust.ts';
import { type ElapsedProgress, elapsedProgress } from './elapsedProgress.ts';
import type { GradeQueue } from './gradeQueue.ts';
import { sourceLabel } from './words.ts';

export interface GradeOrder {
  readonly task: Task;
  readonly source: SubmissionSource;
  /** Keeps the grade's container for a look inside. */
  readonly keep?: boolean;
  /** Set when the Testing view asked; the run then belongs to that request. */
  readonly request?: vscode.TestRunRequest;
  /** Finds the lines of a workspace that failed tests are about, by the tests' ids. Never rejects. */
  readonly locate?: (result: GradeResult) => Promise<ReadonlyMap<string, MessagePlace>>;
}

export interface GradeRunDeps {
  readonly queue: GradeQueue;
  readonly grader: Grader;
  readonly tests: HiddenTests;
  readonly grades: GradeIndex;
  readonly log: Log;
}

/**
 * Grades once, when the queue lets it: one cancellable progress, the Testing view's run, the log. Rejects with
 * `CancelledError` when the person stops it, in the notification, the Testing view or the tree.
 */
export async function runGrade(order: GradeOrder, deps: GradeRunDeps): Promise<GradeResult> {
  const { task, source } = order;
  requireTrust(task);
  const title = `Grading ${task.name} (${sourceLabel(source)})`;
  const store = new DisposableStore();
  const controller = new AbortController();
  const run = deps.tests.start(task, title, order.request);
  try {
    store.add(abortOn(run.token, controller));
    const result = await vscode.window.withProgress(
      { location: vscode.ProgressLocation.Notification, cancellable: true, title: withoutLinks(title) },
      (progress, token) => {
        store.add(abortOn(token, controller));
        const elapsed = store.add(elapsedProgress(progress));
        elapsed.step(deps.queue.jobs.length > 0 ? 'Waiting for the grade before' : 'Starting');
        return deps.queue.run(task, source, controller, (tell) => {
          run.started();
          deps.log.info(title);
          return followGrade(deps, order, controller.signal, { run, elapsed, tell });
        });
      },
    );
    await completeOutput(run, result);
    await run.finish(result, await order.locate?.(result));
    return result;
  } catch (error) {
    if (isCancellation(error)) run.cancelled();
    else run.fail(errorMessage(error));
    throw error;
  } finally {
    store.dispose();
    run.end();
    await deps.grades.reload(task);
  }
}

/** More of a log than this is not put into the run's output; the log itself can be opened. */
const outputLimit = 1_000_000;

/** A verifier that ended at once was not followed live: its log is shown whole. */
async function completeOutput(run: OpenRun, result: GradeResult): Promise<void> {
  if (run.hadOutput()) return;
  const log = await readVerifierLog(result.dir);
  if (log) run.output(log.subarray(-outputLimit).toString('utf8'));
}

interface Watchers {
  readonly run: OpenRun;
  readonly elapsed: ElapsedProgress;
  /** Tells the tree. */
  readonly tell: (step: string) => void;
}

/** Passes the events of a grade on to all who watch it; returns its result. */
async function followGrade(
  { grader, log }: GradeRunDeps,
  { task, source, keep }: GradeOrder,
  signal: AbortSignal,
  { run, elapsed, tell }: Watchers,
): Promise<GradeResult> {
  let step = 'Connecting to the container engine';
  elapsed.step(step);
  for await (const event of grader(task, source, signal, keep)) {
    switch (event.kind) {
      case 'phase':
        step = event.title;
        elapsed.step(step);
        tell(step);
        log.info(`${task.name}: ${step}`);
        break;
      case 'progress':
        elapsed.step(step, event.message);
        log.debug(`${task.name}: ${event.message}`);
        break;
      case 'output':
        run.output(event.chunk);
        log.trace(event.chunk.trimEnd());
        break;
      case 'finished':
        logResult(log, event.result);
        return event.result;
    }
  }
  throw new Error(`The grade of ${task.name} ended without a result.`);
}

function logResult(log: Log, result: GradeResult): void {
  const reason = result.reason === undefined ? '' : ` (${result.reason})`;
  log.info(`${result.task.name}: ${result.verdict}${reason}; kept in ${result.dir}`);
  for (const { name, durationMs } of result.phases) log.debug(`  ${name}: ${Math.round(durationMs)} ms`);
  for (const mark of result.marks) log.warn(`${result.task.name}: ${mark.message} (${mark.rule})`);
  for (const problem of result.problems)
    log.warn(`${result.task.name}: ${problem.message} (${problem.code})`);
}

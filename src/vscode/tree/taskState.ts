import * as vscode from 'vscode';
import type { GradeSummary } from '#core/grading/store.ts';
import type { Verdict } from '#core/report/types.ts';
import type { TaskEntry } from '#core/task/types.ts';
import type { GradeJob } from '#vscode/grading/gradeQueue.ts';

/** What the icon of a task says. */
export type TaskState = 'running' | 'queued' | 'invalid' | 'not gradable' | 'never graded' | Verdict;

/** A grade under way wins over faults, faults over old verdicts. */
export function taskState(
  entry: TaskEntry,
  jobs: readonly GradeJob[],
  latest: GradeSummary | undefined,
): TaskState {
  if (jobs.some((job) => job.state === 'running')) return 'running';
  if (jobs.length > 0) return 'queued';
  if (!entry.valid) return 'invalid';
  if (!entry.gradable) return 'not gradable';
  return latest?.verdict ?? 'never graded';
}

const icons: Readonly<Record<TaskState, readonly [icon: string, color?: string]>> = {
  running: ['loading~spin', 'testing.runAction'],
  queued: ['watch', 'testing.iconQueued'],
  invalid: ['circle-slash', 'problemsErrorIcon.foreground'],
  'not gradable': ['circle-slash', 'disabledForeground'],
  'never graded': ['circle-outline', 'testing.iconUnset'],
  resolved: ['pass', 'testing.iconPassed'],
  unresolved: ['error', 'testing.iconFailed'],
  'not graded': ['warning', 'problemsWarningIcon.foreground'],
};

export function stateIcon(state: TaskState): vscode.ThemeIcon {
  const [icon, color] = icons[state];
  return new vscode.ThemeIcon(icon, color === undefined ? undefined : new vscode.ThemeColor(color));
}

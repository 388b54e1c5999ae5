import path from 'node:path';
import * as vscode from 'vscode';
import { awaitsStart } from '#core/attempt/states.ts';
import type { AttemptRecord } from '#core/attempt/types.ts';
import type { GradeSummary } from '#core/grading/store.ts';
import { countTests } from '#core/report/countTests.ts';
import { testLabel } from '#core/report/testLabel.ts';
import { attemptSummary, stateIcons } from '#vscode/attempts/words.ts';
import type { GradeJob } from '#vscode/grading/gradeQueue.ts';
import { countsLabel, sourceKindLabel, sourceLabel, testCount } from '#vscode/grading/words.ts';
import { oneLine, stripAnsi } from '#vscode/text.ts';
import {
  type AttemptNode,
  type CorpusNode,
  entryOf,
  type GradeNode,
  type ImportedNode,
  type JobNode,
  type NoteNode,
  type ProblemNode,
  type SuiteNode,
  type TaskNode,
  type TestNode,
  type TreeNode,
  type WarningsNode,
} from './nodes.ts';
import { stateIcon, taskState } from './taskState.ts';
import { taskCategory, taskLanguage, taskTooltip } from './taskTooltip.ts';

/** What a row shows besides its own data. */
export interface TaskFactsSource {
  jobs(node: TaskNode): readonly GradeJob[];
  latest(node: TaskNode): GradeSummary | undefined;
  isKept(node: GradeNode): boolean;
}

const { Collapsed, Expanded, None } = vscode.TreeItemCollapsibleState;

/** The visible form of a row. */
export function renderNode(node: TreeNode, facts: TaskFactsSource): vscode.TreeItem {
  const item = renderKind(node, facts);
  item.id = node.id;
  return item;
}

function renderKind(node: TreeNode, facts: TaskFactsSource): vscode.TreeItem {
  switch (node.kind) {
    case 'corpus':
      return renderCorpus(node);
    case 'task':
      return renderTask(node, facts);
    case 'warnings':
      return renderWarnings(node);
    case 'problem':
      return renderProblem(node);
    case 'job':
      return renderJob(node);
    case 'attempt':
      return renderAttempt(node);
    case 'imported':
      return renderImported(node);
    case 'grade':
      return renderGrade(node, facts);
    case 'suite':
      return renderSuite(node);
    case 'test':
      return renderTest(node);
    case 'note':
      return renderNote(node);
  }
}

function renderCorpus({ corpus }: CorpusNode): vscode.TreeItem {
  const item = new vscode.TreeItem(corpus.label, Expanded);
  const tasks = corpus.entries.length;
  item.description =
    corpus.failure === undefined ? `${tasks} ${tasks === 1 ? 'task' : 'tasks'}` : 'cannot be read';
  item.iconPath = new vscode.ThemeIcon(corpus.kind === 'bundled' ? 'library' : 'folder-library');
  item.tooltip = corpus.path;
  item.contextValue = corpusContext(corpus.kind);
  return item;
}

function renderTask(node: TaskNode, facts: TaskFactsSource): vscode.TreeItem {
  const { entry } = node;
  const latest = facts.latest(node);
  const state = taskState(entry, facts.jobs(node), latest);
  const item = new vscode.TreeItem(entry.name, Collapsed);
  item.iconPath = stateIcon(state);
  item.description = taskDescription(node);
  item.tooltip = taskTooltip(entry, state, latest);
  item.contextValue = taskContext(entry.valid, entry.gradable);
  item.accessibilityInformation = {
    label: `${entry.name}, ${state}${item.description ? `, ${item.description}` : ''}`,
  };
  return item;
}

/** "python · query-engine · 31 tests", or what keeps the task from being graded. */
function taskDescription({ entry }: TaskNode): string {
  if (!entry.valid) return 'invalid';
  const count = entry.task?.testCaseCount;
  const parts = [
    taskLanguage(entry),
    taskCategory(entry),
    count === undefined ? undefined : testCount(count),
    entry.gradable ? undefined : 'not gradable',
  ];
  return parts.filter((part) => part !== undefined).join(' · ');
}

function renderWarnings({ problems }: WarningsNode): vscode.TreeItem {
  const label = `${problems.length} ${problems.length === 1 ? 'warning' : 'warnings'}`;
  const item = new vscode.TreeItem(label, Collapsed);
  item.iconPath = new vscode.ThemeIcon('warning', new vscode.ThemeColor('problemsWarningIcon.foreground'));
  item.contextValue = 'warnings';
  return item;
}

function renderProblem(node: ProblemNode): vscode.TreeItem {
  const { problem, closed } = node;
  const item = new vscode.TreeItem(problem.message, None);
  const error = problem.severity === 'error';
  item.iconPath = new vscode.ThemeIcon(
    error ? 'error' : 'warning',
    new vscode.ThemeColor(error ? 'problemsErrorIcon.foreground' : 'problemsWarningIcon.foreground'),
  );
  item.tooltip = [problem.message, closed].filter(Boolean).join('\n');
  item.contextValue = 'problem';
  if (problem.file !== undefined) {
    const line = problem.line ?? 1;
    const start = new vscode.Position(line - 1, (problem.column ?? 1) - 1);
    item.description = problem.line === undefined ? problem.file : `${problem.file}:${line}`;
    if (closed === undefined)
      item.command = {
        command: 'vscode.open',
        title: 'Open the file',
        arguments: [
          vscode.Uri.file(path.join(entryOf(node)?.path ?? '', problem.file)),
          { selection: new vscode.Range(start, start) } satisfies vscode.TextDocumentShowOptions,
        ],
      };
  }
  return item;
}

function renderJob({ job }: JobNode): vscode.TreeItem {
  const item = new vscode.TreeItem(sourceLabel(job.source), None);
  item.description = job.step;
  item.iconPath = stateIcon(job.state);
  item.contextValue = 'job';
  return item;
}

function renderAttempt(node: AttemptNode): vscode.TreeItem {
  const { record } = node;
  const item = new vscode.TreeItem('Attempt', None);
  item.description = `${attemptSummary(record)} · ${localTime(record.createdAt)}`;
  item.iconPath = new vscode.ThemeIcon(stateIcons[record.state]);
  item.tooltip = [
    `Attempt ${record.id} at ${record.task.name}`,
    record.damage ?? record.history.at(-1)?.reason,
    `Started ${localTime(record.createdAt)}`,
  ]
    .filter(Boolean)
    .join('\n');
  item.contextValue = attemptContext(record);
  item.command = { command: 'e2eSwe.openAttempt', title: 'Open attempt', arguments: [node] };
  item.accessibilityInformation = { label: `Attempt, ${item.description}` };
  return item;
}

function renderImported({ attempt }: ImportedNode): vscode.TreeItem {
  const { trial, damage, dir } = attempt;
  const item = new vscode.TreeItem(`Imported: ${oneLine(trial?.agent?.name ?? '', 'trial')}`, Collapsed);
  const counts = trial && countTests(trial.report, undefined);
  const outcome = trial
    ? counts && counts.reported > 0
      ? `${trial.verdict}, ${counts.passed} of ${counts.reported} passed`
      : trial.verdict
    : 'cannot be read';
  item.description = [outcome, trial?.startedAt && localTime(trial.startedAt)].filter(Boolean).join(' · ');
  item.iconPath = trial ? stateIcon(trial.verdict) : new vscode.ThemeIcon('error');
  item.tooltip = [damage ?? trial?.reason, 'Read where it is, never written', dir].filter(Boolean).join('\n');
  item.contextValue = 'imported';
  item.accessibilityInformation = { label: `${item.label}, ${item.description}` };
  return item;
}

function renderGrade(node: GradeNode, facts: TaskFactsSource): vscode.TreeItem {
  const { summary } = node;
  const isKept = facts.isKept(node);
  const item = new vscode.TreeItem(sourceKindLabel(summary.source), Collapsed);
  const outcome = summary.verdict === 'not graded' ? 'not graded' : countsLabel(summary.counts);
  item.description = [outcome, localTime(summary.startedAt), isKept && 'container kept']
    .filter(Boolean)
    .join(' · ');
  item.iconPath = stateIcon(summary.verdict);
  item.tooltip = [`Verdict: ${summary.verdict}`, summary.reason && `Reason: ${summary.reason}`, summary.dir]
    .filter(Boolean)
    .join('\n');
  item.contextValue = gradeContext(isKept);
  item.accessibilityInformation = {
    label: `Grade of ${item.label}, ${summary.verdict}, ${item.description}`,
  };
  return item;
}

function renderSuite(node: SuiteNode): vscode.TreeItem {
  const item = new vscode.TreeItem(node.label, Collapsed);
  const bad = node.tests.filter((test) => test.status !== 'passed').length;
  item.description = bad > 0 ? `${bad} of ${node.tests.length} not passed` : testCount(node.tests.length);
  item.iconPath = bad > 0 ? testIcons.failed : testIcons.passed;
  item.contextValue = 'suite';
  return item;
}

const testIcons = {
  passed: new vscode.ThemeIcon('pass', new vscode.ThemeColor('testing.iconPassed')),
  failed: new vscode.ThemeIcon('error', new vscode.ThemeColor('testing.iconFailed')),
  skipped: new vscode.ThemeIcon('debug-step-over', new vscode.ThemeColor('testing.iconSkipped')),
  pending: new vscode.ThemeIcon('debug-step-over', new vscode.ThemeColor('testing.iconSkipped')),
  other: new vscode.ThemeIcon('issues', new vscode.ThemeColor('testing.iconErrored')),
};

function renderTest({ result }: TestNode): vscode.TreeItem {
  const item = new vscode.TreeItem(oneLine(testLabel(result)), None);
  item.iconPath = testIcons[result.status];
  item.description = result.status === 'passed' ? '' : oneLine(result.message ?? '', result.status);
  item.tooltip = stripAnsi(result.message ?? result.name);
  item.contextValue = 'test';
  item.accessibilityInformation = { label: `${item.label}, ${result.status}` };
  return item;
}

function renderNote(node: NoteNode): vscode.TreeItem {
  const item = new vscode.TreeItem(node.text, None);
  item.iconPath = new vscode.ThemeIcon(
    node.severity,
    node.severity === 'info'
      ? undefined
      : new vscode.ThemeColor(`problems${node.severity === 'error' ? 'Error' : 'Warning'}Icon.foreground`),
  );
  item.description = node.detail ?? '';
  item.tooltip = node.detail === undefined ? node.text : `${node.text}\n${node.detail}`;
  item.contextValue = 'note';
  return item;
}

/** Context values are what the manifest's `viewItem` clauses match. */
export function corpusContext(kind: CorpusNode['corpus']['kind']): string {
  return `corpus.${kind}`;
}

export function taskContext(valid: boolean, gradable: boolean): string {
  return ['task', valid && 'valid', gradable && 'gradable'].filter(Boolean).join(';');
}

export function attemptContext(record: Pick<AttemptRecord, 'state' | 'protocol' | 'history'>): string {
  if (record.state === 'preparing') return 'attempt;preparing';
  return awaitsStart(record) ? 'attempt;made;waiting' : 'attempt;made';
}

export function gradeContext(isKept: boolean): string {
  return isKept ? 'grade;kept' : 'grade';
}

/** Every context value there is, for the test that checks the manifest's menus. */
export const contextValues: readonly string[] = [
  ...(['configured', 'workspace', 'bundled'] as const).map(corpusContext),
  taskContext(false, false),
  taskContext(true, false),
  taskContext(true, true),
  'warnings',
  'problem',
  'job',
  'attempt;preparing',
  'attempt;made',
  'attempt;made;waiting',
  gradeContext(false),
  gradeContext(true),
  'imported',
  'suite',
  'test',
  'note',
];

function localTime(iso: string): string {
  const date = new Date(iso);
  return Number.isNaN(date.getTime())
    ? iso
    : date.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
}

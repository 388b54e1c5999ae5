import type { ImportedAttempt } from '#core/attempt/importedAttempts.ts';
import type { AttemptRecord } from '#core/attempt/types.ts';
import type { GradeSummary } from '#core/grading/store.ts';
import type { TestResult } from '#core/report/types.ts';
import type { Task, TaskEntry, TaskProblem } from '#core/task/types.ts';
import type { Corpus } from '#vscode/corpora/taskIndex.ts';
import type { GradeJob } from '#vscode/grading/gradeQueue.ts';

/** A row of the Tasks view. Rows hold data only; `renderNode` makes them visible. */
export type TreeNode =
  | CorpusNode
  | TaskNode
  | WarningsNode
  | ProblemNode
  | JobNode
  | AttemptNode
  | ImportedNode
  | GradeNode
  | SuiteNode
  | TestNode
  | NoteNode;

export interface CorpusNode {
  readonly kind: 'corpus';
  readonly id: string;
  readonly corpus: Corpus;
}

export interface TaskNode {
  readonly kind: 'task';
  readonly id: string;
  readonly parent: CorpusNode;
  readonly entry: TaskEntry;
}

/** What is odd about a task that works all the same, folded away: whole corpora share their oddities. */
export interface WarningsNode {
  readonly kind: 'warnings';
  readonly id: string;
  readonly parent: TaskNode;
  readonly problems: readonly TaskProblem[];
}

/** Something wrong with a task folder; opens the file at its line. */
export interface ProblemNode {
  readonly kind: 'problem';
  readonly id: string;
  readonly parent: TaskNode | WarningsNode;
  readonly problem: TaskProblem;
  /** Why its file is not opened from here. */
  readonly closed?: string;
}

/** A grade that waits or runs. */
export interface JobNode {
  readonly kind: 'job';
  readonly id: string;
  readonly parent: TaskNode;
  readonly task: Task;
  readonly job: GradeJob;
}

/** One try at the task, with a workspace of its own. */
export interface AttemptNode {
  readonly kind: 'attempt';
  readonly id: string;
  readonly parent: TaskNode;
  readonly task: Task;
  readonly record: AttemptRecord;
}

/** A trial of a Harbor job, as a try at the task that is only read. */
export interface ImportedNode {
  readonly kind: 'imported';
  readonly id: string;
  readonly parent: TaskNode;
  readonly attempt: ImportedAttempt;
}

/** A stored grade. */
export interface GradeNode {
  readonly kind: 'grade';
  readonly id: string;
  readonly parent: TaskNode;
  readonly task: Task;
  readonly summary: GradeSummary;
}

/** The tests of one suite that share an outcome worth a look. */
export interface SuiteNode {
  readonly kind: 'suite';
  readonly id: string;
  readonly parent: GradeNode | ImportedNode;
  readonly label: string;
  readonly tests: readonly TestResult[];
}

export interface TestNode {
  readonly kind: 'test';
  readonly id: string;
  readonly parent: SuiteNode;
  readonly result: TestResult;
}

/** A sentence in the tree: why a grade was not made, how many tests are missing. */
export interface NoteNode {
  readonly kind: 'note';
  readonly id: string;
  readonly parent: CorpusNode | GradeNode | ImportedNode;
  readonly severity: 'error' | 'warning' | 'info';
  readonly text: string;
  readonly detail?: string;
}

const nodeKinds: ReadonlySet<string> = new Set<TreeNode['kind']>([
  'corpus',
  'task',
  'warnings',
  'problem',
  'job',
  'attempt',
  'imported',
  'grade',
  'suite',
  'test',
  'note',
]);

/** Menus hand over whatever row they were opened on; this tells ours from other values. */
export function isTreeNode(value: unknown): value is TreeNode {
  return (
    typeof value === 'object' &&
    value !== null &&
    'kind' in value &&
    typeof value.kind === 'string' &&
    nodeKinds.has(value.kind) &&
    'id' in value
  );
}

/** The task that a row belongs to; undefined for corpora and their notes. */
export function entryOf(node: TreeNode): TaskEntry | undefined {
  if (node.kind === 'task') return node.entry;
  return node.kind === 'corpus' ? undefined : entryOf(node.parent);
}

/** The grade that a row belongs to. */
export function gradeOf(node: TreeNode): GradeNode | undefined {
  if (node.kind === 'grade') return node;
  if (node.kind === 'suite' || node.kind === 'test' || node.kind === 'note') return gradeOf(node.parent);
  return undefined;
}

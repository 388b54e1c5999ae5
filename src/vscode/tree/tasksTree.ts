import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '#core/base/disposable.ts';
import { errorMessage } from '#core/base/errors.ts';
import type { Task, TaskEntry, TaskProblem } from '#core/task/types.ts';
import type { AttemptIndex } from '#vscode/attempts/attemptIndex.ts';
import type { RevealGate } from '#vscode/attempts/revealGate.ts';
import type { Corpus, TaskIndex } from '#vscode/corpora/taskIndex.ts';
import type { ImportIndex } from '#vscode/exports/importIndex.ts';
import type { GradeIndex } from '#vscode/grades/gradeIndex.ts';
import type { KeptIndex } from '#vscode/grades/keptIndex.ts';
import type { GradeQueue } from '#vscode/grading/gradeQueue.ts';
import { gradeRows, importedRows, testRows } from './gradeRows.ts';
import {
  type CorpusNode,
  entryOf,
  type GradeNode,
  type ImportedNode,
  type NoteNode,
  type ProblemNode,
  type TaskNode,
  type TreeNode,
  type WarningsNode,
} from './nodes.ts';
import { renderNode } from './renderNode.ts';

export interface TasksTreeDeps {
  readonly index: TaskIndex;
  readonly grades: GradeIndex;
  readonly queue: GradeQueue;
  readonly attempts: AttemptIndex;
  readonly imports: Pick<ImportIndex, 'of' | 'onDidChange'>;
  readonly kept: Pick<KeptIndex, 'has' | 'onDidChange'>;
  readonly gate: Pick<RevealGate, 'closedBecause'>;
}

/** The Tasks view: corpus, task, grades, suites, tests. Reads each level when it is opened. */
export class TasksTree implements vscode.TreeDataProvider<TreeNode>, Disposable {
  readonly #deps: TasksTreeDeps;
  readonly #store = new DisposableStore();
  readonly #changed = this.#store.add(new vscode.EventEmitter<TreeNode | undefined>());
  /** The same row objects as long as the index stands: VS Code knows rows by identity. */
  #corpora: readonly CorpusNode[] = [];
  readonly #tasks = new Map<string, TaskNode>();

  readonly onDidChangeTreeData = this.#changed.event;

  constructor(deps: TasksTreeDeps) {
    this.#deps = deps;
    const taskChanged = (task: Task): void => {
      const node = this.#tasks.get(task.dir);
      if (node) this.#changed.fire(node);
    };
    this.#store.add(deps.index.onDidChange(() => this.#rebuild()));
    this.#store.add(deps.grades.onDidChange(taskChanged));
    this.#store.add(deps.queue.onDidChange(taskChanged));
    this.#store.add(deps.attempts.onDidChange(() => this.#changed.fire(undefined)));
    this.#store.add(deps.imports.onDidChange(() => this.#changed.fire(undefined)));
    this.#store.add(deps.kept.onDidChange(() => this.#changed.fire(undefined)));
    this.#rebuild();
  }

  #rebuild(): void {
    this.#tasks.clear();
    this.#corpora = this.#deps.index.corpora.map((corpus): CorpusNode => {
      const node: CorpusNode = { kind: 'corpus', id: `corpus:${corpus.path}`, corpus };
      for (const entry of corpus.entries) {
        this.#tasks.set(entry.path, { kind: 'task', id: `task:${entry.path}`, parent: node, entry });
      }
      return node;
    });
    this.#changed.fire(undefined);
  }

  getTreeItem(node: TreeNode): vscode.TreeItem {
    const { queue, grades, kept } = this.#deps;
    return renderNode(node, {
      jobs: ({ entry }) => (entry.task ? queue.jobsOf(entry.task) : []),
      latest: ({ entry }) => entry.task && grades.latest(entry.task),
      isKept: ({ summary }) => kept.has(summary.dir),
    });
  }

  getParent(node: TreeNode): TreeNode | undefined {
    return node.kind === 'corpus' ? undefined : node.parent;
  }

  async getChildren(node?: TreeNode): Promise<TreeNode[]> {
    switch (node?.kind) {
      case undefined:
        return [...this.#corpora];
      case 'corpus':
        return this.#corpusRows(node);
      case 'task':
        return this.#taskRows(node);
      case 'warnings':
        return this.#problemRows(node, node.problems);
      case 'grade':
        return this.#gradeRows(node);
      case 'imported':
        return this.#importedRows(node);
      case 'suite':
        return testRows(node);
      default:
        return [];
    }
  }

  /** The row of a task folder, to be revealed. */
  nodeOf(entry: Pick<TaskEntry, 'path'>): TaskNode | undefined {
    return this.#tasks.get(entry.path);
  }

  #corpusRows(node: CorpusNode): TreeNode[] {
    const { corpus } = node;
    if (corpus.entries.length === 0) return [emptyCorpusNote(node, corpus)];
    // Verdicts come in when they are read; the rows do not wait for them.
    void this.#deps.grades.preload(corpus.entries.flatMap((entry) => entry.task ?? []));
    return corpus.entries.flatMap((entry) => this.#tasks.get(entry.path) ?? []);
  }

  async #taskRows(node: TaskNode): Promise<TreeNode[]> {
    const { problems, task } = node.entry;
    const rows: TreeNode[] = await this.#problemRows(
      node,
      problems.filter((problem) => problem.severity === 'error'),
    );
    const warnings = problems.filter((problem) => problem.severity === 'warning');
    const folded: TreeNode[] =
      warnings.length === 0
        ? []
        : [{ kind: 'warnings', id: `${node.id}#warnings`, parent: node, problems: warnings }];
    if (!task) return [...rows, ...folded];
    for (const job of this.#deps.queue.jobsOf(task)) {
      rows.push({ kind: 'job', id: `${node.id}#job-${job.id}`, parent: node, task, job });
    }
    for (const record of await this.#deps.attempts.of(task)) {
      rows.push({ kind: 'attempt', id: `attempt:${record.id}`, parent: node, task, record });
    }
    for (const attempt of await this.#deps.imports.of(task)) {
      rows.push({ kind: 'imported', id: `${node.id}#${attempt.id}`, parent: node, attempt });
    }
    for (const summary of await this.#deps.grades.list(task)) {
      rows.push({ kind: 'grade', id: `grade:${summary.dir}`, parent: node, task, summary });
    }
    return [...rows, ...folded];
  }

  /** What lies in the task's tests or solution is not opened from here while an attempt at it is measured. */
  async #problemRows(
    node: TaskNode | WarningsNode,
    problems: readonly TaskProblem[],
  ): Promise<ProblemNode[]> {
    const { task } = entryOf(node) ?? {};
    const isHidden = ({ file }: TaskProblem): boolean => /^(tests|solution)\//.test(file ?? '');
    const closed = task && problems.some(isHidden) ? await this.#deps.gate.closedBecause(task) : undefined;
    return problems.map((problem, index) => ({
      kind: 'problem',
      id: `${node.id}#problem-${index}`,
      parent: node,
      problem,
      ...(closed !== undefined && isHidden(problem) ? { closed } : {}),
    }));
  }

  /** Its tests are the task's hidden ones. */
  async #importedRows(node: ImportedNode): Promise<TreeNode[]> {
    const { task } = node.parent.entry;
    const closed = task && (await this.#deps.gate.closedBecause(task, node.attempt.dir));
    if (closed === undefined) return importedRows(node);
    return [{ kind: 'note', id: `${node.id}#closed`, parent: node, severity: 'info', text: closed }];
  }

  async #gradeRows(node: GradeNode): Promise<TreeNode[]> {
    try {
      const result = await this.#deps.grades.read(node.summary.dir);
      const graded = { ...node.task, gradedDigest: result.task.digest };
      const closed = await this.#deps.gate.closedBecause(graded, node.summary.dir);
      return closed === undefined ? gradeRows(node, result) : [closedRow(node, closed)];
    } catch (error) {
      const text = `The grade cannot be read: ${errorMessage(error)}`;
      return [{ kind: 'note', id: `${node.id}#unreadable`, parent: node, severity: 'error', text }];
    }
  }

  dispose(): void {
    this.#store.dispose();
  }
}

/** Rows show themselves; the command asks first. */
function closedRow(parent: GradeNode, text: string): NoteNode {
  const detail = '“Show grade in Testing view” asks first.';
  return { kind: 'note', id: `${parent.id}#closed`, parent, severity: 'info', text, detail };
}

function emptyCorpusNote(parent: CorpusNode, corpus: Corpus): NoteNode {
  return {
    kind: 'note',
    id: `${parent.id}#empty`,
    parent,
    severity: corpus.failure === undefined ? 'info' : 'error',
    text: corpus.failure ?? 'No task folders here: a task has a task.toml file.',
  };
}

import * as vscode from 'vscode';
import type { GradeSummary } from '#core/grading/store.ts';
import type { EnvironmentConfig, TaskEntry } from '#core/task/types.ts';
import { countsLabel, elapsedLabel, sourceKindLabel } from '#vscode/grading/words.ts';
import type { TaskState } from './taskState.ts';

/** How many problems a tooltip lists before it counts the rest. */
const shownProblems = 5;

/** What is known about a task, as Markdown that may not run commands: its words come from the task's author. */
export function taskTooltip(
  entry: TaskEntry,
  state: TaskState,
  latest: GradeSummary | undefined,
): vscode.MarkdownString {
  const tooltip = new vscode.MarkdownString();
  tooltip.isTrusted = false;
  tooltip.supportHtml = false;
  tooltip.appendMarkdown('**');
  tooltip.appendText(entry.name);
  tooltip.appendMarkdown('**\n\n');
  for (const [name, value] of taskFacts(entry, state, latest)) {
    tooltip.appendMarkdown(`- ${name}: `);
    tooltip.appendText(value);
    tooltip.appendMarkdown('\n');
  }
  for (const problem of entry.problems.slice(0, shownProblems)) {
    tooltip.appendMarkdown(`- ${problem.severity === 'error' ? 'Error' : 'Warning'}: `);
    tooltip.appendText(problem.message);
    tooltip.appendMarkdown('\n');
  }
  const more = entry.problems.length - shownProblems;
  if (more > 0) tooltip.appendMarkdown(`- and ${more} more problems\n`);
  return tooltip;
}

/** The facts of the tooltip as pairs. */
export function taskFacts(
  entry: TaskEntry,
  state: TaskState,
  latest: GradeSummary | undefined,
): readonly (readonly [name: string, value: string])[] {
  const facts: [string, string][] = [['State', state]];
  if (latest) {
    facts.push([
      'Last grade',
      `${sourceKindLabel(latest.source)}, ${latest.verdict}, ${countsLabel(latest.counts)}`,
    ]);
  }
  const { task } = entry;
  if (!task) return facts;
  const category = taskCategory(entry);
  const language = taskLanguage(entry);
  if (category !== undefined) facts.push(['Category', category]);
  if (language !== undefined) facts.push(['Language', language]);
  if (task.testCaseCount !== undefined) facts.push(['Hidden tests expected', String(task.testCaseCount)]);
  facts.push(['Verifier time limit', elapsedLabel(task.config.verifier.timeout_sec * 1000)]);
  facts.push(['Limits', limitsLabel(task.verifierEnvironment)]);
  facts.push(['Verifier', task.verifierMode]);
  return facts;
}

function limitsLabel(environment: EnvironmentConfig): string {
  const limits: string[] = [];
  if (environment.cpus !== null) limits.push(`${environment.cpus} CPUs`);
  if (environment.memory_mb !== null) limits.push(`${environment.memory_mb} MiB memory`);
  return limits.length > 0 ? limits.join(', ') : 'none';
}

/** `[metadata]` is free form: a key counts only when it holds a word. */
function metadataWord(entry: TaskEntry, ...keys: readonly string[]): string | undefined {
  for (const key of keys) {
    const value = entry.task?.config.metadata[key];
    if (typeof value === 'string' && value.trim() !== '') return value.trim();
  }
  return undefined;
}

export function taskCategory(entry: TaskEntry): string | undefined {
  return metadataWord(entry, 'category');
}

export function taskLanguage(entry: TaskEntry): string | undefined {
  return metadataWord(entry, 'programming_language', 'language');
}

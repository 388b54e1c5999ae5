import { createHash } from 'node:crypto';
import type { Task } from '#core/task/types.ts';

/**
 * Ids of the Testing view's items. Each begins with its task's, since VS Code mixes up equal ids below two parents,
 * and holds no raw name, since ids with line ends or blanks get lost.
 */
export const controllerId = 'e2eSwe.hiddenTests';

export function taskItemId(task: Task): string {
  return `task-${shortHash(task.dir)}`;
}

export function suiteItemId(taskId: string, suite: readonly string[]): string {
  return `${taskId}/suite-${shortHash(JSON.stringify(suite))}`;
}

export function testItemId(taskId: string, testId: string): string {
  return `${taskId}/test-${testId}`;
}

export function notReportedItemId(taskId: string): string {
  return `${taskId}/not-reported`;
}

const hashLength = 16;

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, hashLength);
}

import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { errorMessage, UserError } from '#core/base/errors.ts';
import { pyStrip } from './python.ts';
import type { Task } from './types.ts';

const CANARY = /^(<!--[^\n]*canary[^\n]*-->|#[^\n]*canary[^\n]*)$/i;

/** Drops the leading canary lines and the blank lines after them (harbor.md §1, "Canary stripping"). */
export function stripCanary(text: string): string {
  const lines = text.split('\n');
  let start = 0;
  while (start < lines.length && CANARY.test(pyStrip(lines[start] ?? ''))) start++;
  while (start < lines.length && pyStrip(lines[start] ?? '') === '') start++;
  return lines.slice(start).join('\n');
}

/**
 * The text that a builder is shown: instruction.md with `\n` line ends, as Harbor reads it, without canary lines.
 * A byte order mark goes too (Harbor keeps it, and then misses a canary on the first line).
 */
export async function readSpec(task: Pick<Task, 'dir' | 'name'>): Promise<string> {
  const file = path.join(task.dir, 'instruction.md');
  let bytes: Buffer;
  try {
    bytes = await readFile(file);
  } catch (error) {
    throw new UserError(`The spec of ${task.name} cannot be read: ${errorMessage(error)}`, {
      nextStep: `Check that ${file} exists and is readable.`,
      cause: error,
    });
  }
  return stripCanary(new TextDecoder('utf-8').decode(bytes).replace(/\r\n?/g, '\n'));
}

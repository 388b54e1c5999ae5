import { reasonOf } from '#core/attempt/states.ts';
import type { AttemptRecord } from '#core/attempt/types.ts';

/** An attempt in one line of a list. */
export function renderAttemptRow(record: AttemptRecord): string {
  const verdict = record.grades.at(-1)?.verdict ?? '';
  const why = record.damage ?? (record.state === 'lost' ? reasonOf(record) : undefined) ?? verdict;
  return `${[record.id, record.state.padEnd(9), record.task.name, record.createdAt, why].filter(Boolean).join('  ')}\n`;
}

/** An attempt for a terminal: where it stands, how it came there, its grades. */
export function renderAttempt(record: AttemptRecord, dir: string): string {
  const lines = [
    `${record.id}: ${record.state}`,
    `  task     ${record.task.name} (${record.task.path})`,
    `  workdir  ${record.workdir}${record.user ? `, as ${record.user}` : ''}`,
    `  mode     ${record.mode}`,
    `  image    ${record.image.reference}`,
    `  volume   ${record.volume}`,
    `  folder   ${dir}`,
  ];
  for (const { at, state, reason } of record.history)
    lines.push(`  ${at}  ${state}${reason ? ` (${reason})` : ''}`);
  for (const { at, verdict, official, dir: grade } of record.grades)
    lines.push(`  ${at}  grade: ${verdict}${official ? ', official' : ''}  ${grade}`);
  if (record.submission)
    lines.push(
      `  ${record.submission.at}  submission ${record.submission.sha256}  ${record.submission.file}`,
    );
  return `${lines.join('\n')}\n`;
}

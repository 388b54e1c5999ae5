import type { ImportedAttempt } from '#core/attempt/importedAttempts.ts';
import { reasonOf } from '#core/attempt/states.ts';
import type { AttemptRecord } from '#core/attempt/types.ts';

/** An attempt in one line of a list. */
export function renderAttemptRow(record: AttemptRecord): string {
  const verdict = record.grades.at(-1)?.verdict ?? '';
  const why = record.damage ?? (record.state === 'lost' ? reasonOf(record) : undefined) ?? verdict;
  return `${[record.id, record.state.padEnd(9), record.task.name, record.createdAt, why].filter(Boolean).join('  ')}\n`;
}

/** An imported trial in one line of a list. */
export function renderImportedRow({ id, state, taskName, trial, damage }: ImportedAttempt): string {
  const told = [trial?.startedAt, damage ?? trial?.verdict, trial?.reason];
  return `${[id, state.padEnd(9), taskName, ...told].filter(Boolean).join('  ')}\n`;
}

/** An imported trial for a terminal. */
export function renderImported({ id, taskName, dir, from, trial, damage }: ImportedAttempt): string {
  const lines = [`${id}: imported, and only read`, `  task     ${taskName}`, `  folder   ${dir}`];
  if (from !== dir) lines.push(`  from     ${from}`);
  if (damage !== undefined) lines.push(`  damaged  ${damage}`);
  if (!trial) return `${lines.join('\n')}\n`;
  const { agent, verdict, reason, rewards, report, exception, marks } = trial;
  if (agent) lines.push(`  agent    ${[agent.name, agent.version, agent.model].filter(Boolean).join(' ')}`);
  lines.push(`  verdict  ${verdict}${reason ? ` (${reason})` : ''}`);
  if (rewards) lines.push(`  rewards  ${JSON.stringify(rewards)}`);
  const passed = report.tests.filter(({ status }) => status === 'passed').length;
  if (report.tests.length > 0) lines.push(`  tests    ${passed} of ${report.tests.length} passed`);
  if (exception) lines.push(`  ended    ${[exception.type, exception.message].filter(Boolean).join(': ')}`);
  for (const { message } of marks) lines.push(`  mark     ${message}`);
  return `${lines.join('\n')}\n`;
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
  const { protocol, debrief } = record;
  if (protocol) {
    const { pseudonym, tier, interimGrading } = protocol;
    const interim = interimGrading ? '' : ', not graded before it is submitted';
    lines.push(`  measured as ${pseudonym}: grades show ${tier}${interim}`);
  }
  if (debrief) lines.push('  debriefed (see --json)');
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

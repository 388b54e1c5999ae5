import { readRecordLines } from './readRecordLog.ts';
import type { RecordEvent, RecordLine } from './recordEvents.ts';
import { recordFileOf } from './recorder.ts';

type Milestone = (RecordEvent & { kind: 'milestone' })['what'];
type Told<K extends RecordEvent['kind']> = RecordLine & { readonly kind: K };

/** What a record says of its attempt as a whole, in the order in which it happened. */
export interface RecordSummary {
  readonly notes: readonly Told<'note'>[];
  /** With what each revealed. */
  readonly grades: readonly Told<'graded'>[];
  /** What was seen of hidden tests elsewhere. */
  readonly outside: readonly Told<'revealed-outside'>[];
  /** The first of each; ISO 8601 UTC. */
  readonly milestones: Readonly<Partial<Record<Milestone, string>>>;
  /** The newest. */
  readonly aiFeatures?: Told<'ai-features'>;
}

export const emptySummary: RecordSummary = { notes: [], grades: [], outside: [], milestones: {} };

/** The summary after one more line. */
export function addToSummary(summary: RecordSummary, line: RecordLine): RecordSummary {
  switch (line.kind) {
    case 'note':
      return { ...summary, notes: [...summary.notes, line] };
    case 'graded':
      return { ...summary, grades: [...summary.grades, line] };
    case 'revealed-outside':
      return { ...summary, outside: [...summary.outside, line] };
    case 'milestone':
      return { ...summary, milestones: { [line.what]: line.utc, ...summary.milestones } };
    case 'ai-features':
      return { ...summary, aiFeatures: line };
    default:
      return summary;
  }
}

/** Of an attempt's folder, to its last whole line. Errors: what the file system says. */
export async function readSummary(
  dir: string,
): Promise<{ readonly summary: RecordSummary; readonly lastLine: number }> {
  let summary = emptySummary;
  let lastLine = -1;
  for await (const line of readRecordLines(recordFileOf(dir))) {
    summary = addToSummary(summary, line);
    lastLine = line.n;
  }
  return { summary, lastLine };
}

import path from 'node:path';
import type { GradeResult, SubmissionSource } from '#core/grading/types.ts';
import type { Counts, Verdict } from '#core/report/types.ts';

/** What is graded, for a label: "Reference solution", "Folder my-try". */
export function sourceLabel(source: SubmissionSource): string {
  if (source.kind === 'folder') return `Folder ${path.basename(source.path)}`;
  if (source.kind === 'tar') return `Archive ${path.basename(source.path)}`;
  return sourceKindLabel(source.kind);
}

export function sourceKindLabel(kind: SubmissionSource['kind']): string {
  return {
    folder: 'Folder',
    tar: 'Archive',
    attempt: 'Attempt',
    solution: 'Reference solution',
    empty: 'Empty workspace',
  }[kind];
}

/** "29 of 31 passed", or "29 passed" where the expected count is not known. */
export function countsLabel(counts: Counts): string {
  return counts.expected === null
    ? `${counts.passed} passed`
    : `${counts.passed} of ${counts.expected} passed`;
}

/** Tests are missing from a report; where no test ran at all for want of a grade, that alone is the news. */
export function hasMissingTests({ verdict, counts }: Pick<GradeResult, 'verdict' | 'counts'>): boolean {
  return counts.notReported > 0 && (verdict !== 'not graded' || counts.reported > 0);
}

/** Why no more is to be seen of a grade whose attempt is open. */
export function tierSentence({ tier }: Pick<GradeResult, 'tier'>): string | undefined {
  return tier && `Only ${tierWords[tier]} shown until the attempt is over.`;
}

const tierWords: Readonly<Record<NonNullable<GradeResult['tier']>, string>> = {
  counts: 'counts are',
  names: 'the names of tests are',
  messages: 'names and messages of tests are',
};

/** "1 test", "31 tests". */
export function testCount(count: number): string {
  return `${count} ${count === 1 ? 'test' : 'tests'}`;
}

/** The verdict at the head of a sentence. */
export function verdictLabel(verdict: Verdict): string {
  return { resolved: 'Resolved', unresolved: 'Unresolved', 'not graded': 'Not graded' }[verdict];
}

/** Seconds and minutes as people say them: "8 s", "2 min 5 s". */
export function elapsedLabel(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1000);
  if (seconds < 60) return `${seconds} s`;
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

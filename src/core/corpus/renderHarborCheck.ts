import type { GradeResult } from '#core/grading/types.ts';
import { oneLine } from '#core/report/text.ts';
import type { Side } from '#core/trial/compareSides.ts';
import type { CrossCheck } from '#core/trial/crossCheck.ts';

/** Both sides in two columns, then what differs, then in what they were not given the same. */
export function renderHarborCheck(
  ours: GradeResult,
  check: CrossCheck | undefined,
  /** Why there is nothing of Harbor's. */
  problem: string,
): string {
  const title = `${ours.task.name}: ${headline[check?.outcome ?? 'one side not graded']}`;
  if (check === undefined) {
    const reason = ours.reason === undefined ? '' : ` (${ours.reason})`;
    return `${[title, `  ours: ${ours.verdict}${reason}`, `  Harbor: ${problem}`, `  our grade: ${ours.dir}`].join('\n')}\n`;
  }
  const rows: [string, (side: Side) => string][] = [
    ['verdict', ({ verdict, reason }) => `${verdict}${reason ? ` (${reason})` : ''}`],
    ['rewards', ({ rewards }) => (rewards === null ? 'none' : JSON.stringify(rewards))],
    [
      'tests',
      ({ tests }) => `${tests.filter(({ status }) => status === 'passed').length} of ${tests.length} passed`,
    ],
    ['exception', ({ exception }) => exception?.type ?? '-'],
  ];
  const cells = rows.map(([label, show]) => [
    label,
    oneLine(show(check.ours), 60),
    oneLine(show(check.theirs), 60),
  ]);
  const table = [['', 'ours', 'Harbor'], ...cells];
  const widths = [0, 1].map((column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  const lines = [
    title,
    ...table.map(([label = '', a = '', b = '']) =>
      `  ${label.padEnd(widths[0] ?? 0)}  ${a.padEnd(widths[1] ?? 0)}  ${b}`.trimEnd(),
    ),
    ...check.differences.map(({ message }) => `  difference: ${oneLine(message, 400)}`),
    ...check.notes.map((note) => `  note: ${note}`),
    ...check.marks.map(({ message }) => `  mark: ${message}`),
    `  Harbor's way: ${check.way}; its trial: ${check.trialDir}`,
    `  our grade: ${ours.dir}`,
  ];
  return `${lines.join('\n')}\n`;
}

const headline = {
  agree: 'Harbor agrees',
  differ: 'Harbor differs',
  'one side not graded': 'not both sides have a grade',
} as const;

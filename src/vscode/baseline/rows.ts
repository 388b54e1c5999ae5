import type { ClockPause, ClockTotals } from '#core/attempt/clock.ts';
import type { RecordSummary } from '#core/attempt/recordSummary.ts';
import { budgetLeftSec } from '#core/attempt/sessionWatch.ts';
import { reasonOf } from '#core/attempt/states.ts';
import type { AttemptGrade, AttemptRecord } from '#core/attempt/types.ts';
import { standing } from '#vscode/attempts/words.ts';
import type { CommandId } from '#vscode/commands/commandIds.ts';
import type { AttemptPhase } from '#vscode/contextKeys.ts';
import { verdictLabel } from '#vscode/grading/words.ts';
import { durationText } from '#vscode/record/clockStatus.ts';
import { oneLine } from '#vscode/text.ts';
import { aiSentence } from './aiFeatures.ts';
import { conditionFacts, notControlled, tiers } from './words.ts';

/** A row of the view; the id is its place, so that a row is the same one when its words change. */
export interface Row {
  readonly id: string;
  readonly label: string;
  readonly description?: string;
  readonly icon?: string;
  /** Of the icon. */
  readonly color?: string;
  readonly tooltip?: string;
  readonly context?: RowContext;
  readonly command?: CommandId;
  readonly isOpen?: boolean;
  readonly children?: readonly Row[];
}

/** What the menus of rows go by. */
export const rowContexts = [
  'clock;running',
  'clock;paused',
  'grades;open',
  'notes;open',
  'conditions',
] as const;

type RowContext = (typeof rowContexts)[number];

export interface ShownClock extends ClockTotals {
  readonly pauses: readonly ClockPause[];
}

export interface BaselineState {
  readonly record: AttemptRecord;
  readonly phase: AttemptPhase;
  readonly frozen: string | undefined;
  readonly clock: ShownClock | undefined;
  /** Why nothing can be recorded. */
  readonly failure: string | undefined;
  readonly summary: RecordSummary;
}

/** Of an attempt whose clock was started; before, the view has its button alone. */
export function baselineRows(state: BaselineState): readonly Row[] {
  return [
    phaseRow(state),
    ...(state.failure === undefined ? [] : [failureRow(state.failure)]),
    ...(state.clock ? [timeRow(state, state.clock)] : []),
    gradesRow(state),
    notesRow(state),
    conditionsRow(state),
    ...(state.record.protocol ? [notControlledRow(state)] : []),
    ...(state.phase === 'over' && state.record.protocol ? [debriefRow(state)] : []),
  ];
}

const phaseIcons: Readonly<Record<AttemptPhase, string>> = {
  opening: 'loading~spin',
  failed: 'warning',
  waiting: 'play',
  running: 'watch',
  paused: 'debug-pause',
  frozen: 'lock',
  over: 'pass',
  elsewhere: 'eye',
};

function phaseRow({ record, phase, frozen }: BaselineState): Row {
  const label = phase === 'frozen' ? 'Frozen' : capital(standing(record));
  const reason = phase === 'paused' || phase === 'over' ? reasonOf(record) : undefined;
  const verdict = record.grades.findLast(({ official }) => official)?.verdict;
  const description = {
    ...{ paused: reason ?? 'the clock stands', running: 'the clock runs', frozen: 'the clock stands' },
    ...{ over: verdict ?? reason, elsewhere: 'another window works in it' },
    ...{ opening: '', failed: '', waiting: '' },
  }[phase];
  return {
    ...{ id: 'phase', label, icon: phaseIcons[phase] },
    ...(description ? { description: oneLine(description) } : {}),
    ...(frozen === undefined ? {} : { tooltip: frozen }),
    ...(phase === 'running' || phase === 'paused' ? { context: `clock;${phase}` as const } : {}),
  };
}

function failureRow(failure: string): Row {
  const tooltip = `Nothing can be recorded at the moment: ${failure}`;
  return { ...warning('failure', 'Not recorded'), description: oneLine(failure), tooltip };
}

function timeRow({ record, phase }: BaselineState, clock: ShownClock): Row {
  const { budgetSec } = record;
  const leftSec = budgetLeftSec(budgetSec, clock.unpausedMs);
  const isLow = budgetSec !== null && leftSec !== undefined && leftSec <= budgetSec / 10;
  const budget = budgetSec === null ? '' : ` / ${durationText(budgetSec * 1000)}`;
  const left: Row[] =
    leftSec === undefined || phase === 'over'
      ? []
      : [
          {
            id: 'time/left',
            label: 'Left',
            description: durationText(leftSec * 1000),
            ...(isLow ? low : {}),
          },
        ];
  const part = (name: string, label: string, ms: number, tooltip: string): Row => ({
    ...{ id: `time/${name}`, label, description: durationText(ms), tooltip },
  });
  return {
    ...{ id: 'time', label: 'Time', description: `${durationText(clock.unpausedMs)}${budget}` },
    ...{ icon: 'clock', isOpen: true },
    children: [
      ...left,
      part(
        'active',
        'Active',
        clock.activeMs,
        'Within two minutes of the last edit, save, command, note or key.',
      ),
      part('waiting', 'Waiting', clock.waitingMs, 'Beyond that, while a command or a set-up ran.'),
      part('idle', 'Idle', clock.idleMs, 'The rest of the time in which the workspace was not frozen.'),
      part('focused', 'In focus', clock.focusedMs, 'While this window had the focus.'),
      part('wall', 'Wall', clock.wallMs, 'From the start, with all pauses.'),
      ...(clock.pauses.length > 0 ? [pausesRow(clock.pauses)] : []),
    ],
  };
}

const low = { icon: 'warning', color: 'list.warningForeground' } as const;

function pausesRow(pauses: readonly ClockPause[]): Row {
  return {
    ...{ id: 'time/pauses', label: 'Pauses', description: String(pauses.length) },
    children: pauses.map(({ since, ms, reason }, at) => ({
      id: `time/pauses/${at}`,
      label: oneLine(reason),
      description: `${durationText(ms)}, since ${timeOf(since)}`,
    })),
  };
}

function gradesRow({ record, phase, summary }: BaselineState): Row {
  const { grades, protocol } = record;
  const isAllowed = protocol?.interimGrading ?? true;
  const none = isAllowed ? 'none yet' : 'only the submission is graded';
  const children = [
    ...grades.map((grade, at) => gradeRow(grade, at, summary)),
    ...summary.outside.map(({ what, of, tier, at, n }) => ({
      ...warning(`grades/outside/${n}`, 'Seen elsewhere'),
      description: `${what.replaceAll('-', ' ')} · showed ${tierWord(tier)} · ${timeOf(at)}`,
      tooltip: of,
    })),
  ];
  return {
    ...group('grades', children),
    ...{ label: 'Grades', icon: 'beaker' },
    description: grades.length === 0 ? none : String(grades.length),
    ...(phase === 'running' && isAllowed ? { context: 'grades;open' as const } : {}),
  };
}

/** Open from its first child on: with the id of the empty one, VS Code would keep it closed. */
function group(id: string, children: readonly Row[]): Pick<Row, 'id' | 'children' | 'isOpen'> {
  return children.length === 0 ? { id: `${id}, empty` } : { id, isOpen: true, children };
}

function gradeRow(grade: AttemptGrade, at: number, { grades }: RecordSummary): Row {
  const number = grade.dir.split(/[\\/]/).at(-1);
  const revealed = grades.find(({ dir }) => dir === number)?.revealed;
  const count = revealed?.passed == null ? '' : `${revealed.passed} of ${revealed.total ?? '?'} passed`;
  const shown = revealed ? `showed ${tierWord(revealed.tier)}` : '';
  return {
    id: `grades/${at}`,
    label: grade.official ? 'Submission' : `Grade ${at + 1}`,
    description: [verdictLabel(grade.verdict), count, shown, timeOf(grade.at)].filter(Boolean).join(' · '),
    icon: { resolved: 'pass', unresolved: 'error', 'not graded': 'warning' }[grade.verdict],
  };
}

function tierWord(tier: string): string {
  const word = Object.entries(tiers)
    .find(([name]) => name === tier)?.[1]
    .label.toLowerCase();
  return word === 'full' ? 'everything' : (word ?? tier);
}

function notesRow({ phase, summary: { notes } }: BaselineState): Row {
  const children = notes.map(({ text, utc, n }) => ({
    ...{ id: `notes/${n}`, label: oneLine(text), description: timeOf(utc), tooltip: text },
  }));
  return {
    ...group('notes', children),
    ...{ label: 'Notes', icon: 'comment' },
    description: notes.length === 0 ? 'none yet' : String(notes.length),
    ...(phase === 'running' || phase === 'paused' ? { context: 'notes;open' as const } : {}),
  };
}

function conditionsRow({ record: { protocol } }: BaselineState): Row {
  const base = { id: 'conditions', label: 'Conditions', icon: 'checklist', context: 'conditions' } as const;
  if (!protocol) return { ...base, description: 'practice: grades show everything' };
  const children = conditionFacts(protocol).map(([name, value]) => ({
    ...{ id: `conditions/${name}`, label: name, description: oneLine(value), tooltip: `${name}: ${value}` },
  }));
  return { ...base, description: protocol.pseudonym, children };
}

function notControlledRow({ record, summary: { aiFeatures } }: BaselineState): Row {
  const isForbidden = record.protocol?.aiPolicy === 'none';
  const isClean = aiFeatures && aiFeatures.on.length === 0 && aiFeatures.extensions.length === 0;
  const ai: Row[] =
    !isForbidden || !aiFeatures
      ? []
      : [
          {
            ...(isClean
              ? { id: 'open/ai', label: 'AI features', icon: 'pass' }
              : warning('open/ai', 'AI features')),
            description: isClean ? 'off in this window' : oneLine(aiSentence(aiFeatures)),
            tooltip: aiSentence(aiFeatures),
          },
        ];
  return {
    ...{
      id: 'open',
      label: 'Not controlled',
      icon: isForbidden && aiFeatures && !isClean ? 'warning' : 'info',
    },
    children: [
      ...ai,
      ...notControlled.map(([name, sentence]) => ({
        ...{ id: `open/${name}`, label: name, description: sentence, tooltip: sentence },
      })),
    ],
  };
}

function debriefRow({ record: { debrief } }: BaselineState): Row {
  return {
    ...{
      id: 'debrief',
      label: 'Debrief',
      icon: debrief ? 'pass' : 'feedback',
      command: 'e2eSwe.fillInDebrief',
    },
    description: debrief ? 'filled in' : 'fill it in while you remember',
  };
}

function warning(id: string, label: string) {
  return { id, label, ...low };
}

function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

function timeOf(utc: string): string {
  const time = new Date(utc);
  return Number.isNaN(time.getTime())
    ? utc
    : time.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' });
}

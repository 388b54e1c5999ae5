import type { AttemptDebrief } from '#core/attempt/protocol.ts';
import { type Answers, askSteps, type Step, type TextStep } from '#vscode/forms/askSteps.ts';

const notSaid = 'notSaid';
const maxMinutes = 60_000;

function text(key: string, ask: string, example: string): TextStep {
  return { kind: 'text', key, ask: `${ask} (may stay empty)`, example };
}

export const debriefSteps: readonly Step[] = [
  {
    kind: 'choice',
    key: 'difficulty',
    ask: 'How hard was the task?',
    items: [
      { value: '1', label: '1: trivial' },
      { value: '2', label: '2: easy' },
      { value: '3', label: '3: neither easy nor hard' },
      { value: '4', label: '4: hard' },
      { value: '5', label: '5: very hard' },
      { value: notSaid, label: 'No answer' },
    ],
  },
  {
    ...text(
      'estimate',
      'How long does it take somebody like you, from the start to a resolved task?',
      '90, 1:30 or 2.5 h',
    ),
    check: (given) =>
      given === '' || minutesOf(given) !== undefined ? undefined : 'Minutes (90), or hours as 1:30 or 2.5 h.',
  },
  text('approach', 'How did you go about it?', 'The parser first, then the commands, tests last'),
  text('deadEnds', 'What did you try in vain?', 'A generator for the parser: dropped after half an hour'),
  text(
    'ambiguities',
    'What does the spec leave open, or say otherwise than its tests?',
    'Whether an empty file is an error',
  ),
  text('aiUse', 'Which AI did you use all the same, and for what?', 'None'),
];

/** Asks how it was; what was said before is proposed. Rejects with `CancelledError`: then nothing is kept. */
export async function askDebrief(
  taskName: string,
  before: AttemptDebrief | undefined,
): Promise<AttemptDebrief> {
  return debriefOf(await askSteps(`Debrief of the attempt at ${taskName}`, debriefSteps, answersOf(before)));
}

function answersOf(before: AttemptDebrief | undefined): Answers {
  if (!before) return {};
  const { difficulty, estimateMinutes, approach, deadEnds, ambiguities, aiUse } = before;
  return {
    difficulty: difficulty === null ? notSaid : String(difficulty),
    estimate: estimateMinutes === null ? '' : String(estimateMinutes),
    ...{ approach, deadEnds, ambiguities, aiUse },
  };
}

export function debriefOf(answers: Answers): AttemptDebrief {
  const { difficulty, estimate = '', approach = '', deadEnds = '', ambiguities = '', aiUse = '' } = answers;
  return {
    difficulty: difficulty === undefined || difficulty === notSaid ? null : Number(difficulty),
    estimateMinutes: minutesOf(estimate) ?? null,
    ...{ approach, deadEnds, ambiguities, aiUse: /^(none|no|-)\.?$/i.test(aiUse) ? '' : aiUse },
  };
}

/** Of `90`, `90 min`, `1:30`, `2.5 h`; undefined for what is no time. */
export function minutesOf(text: string): number | undefined {
  const [, hours, minutes] = /^(\d{1,3}):([0-5]\d)$/.exec(text) ?? [];
  const [, number = '', unit = ''] = /^(\d+(?:[.,]\d+)?)\s*(h|hours?|m|min|minutes?)?$/i.exec(text) ?? [];
  const plain = Number(number.replace(',', '.')) * (/^h/i.test(unit) ? 60 : 1);
  const total = hours === undefined ? plain : Number(hours) * 60 + Number(minutes);
  return (hours === undefined && number === '') || total > maxMinutes
    ? undefined
    : Math.round(total * 10) / 10;
}

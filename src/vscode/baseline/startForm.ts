import type { AttemptProtocol } from '#core/attempt/protocol.ts';
import { type Answers, askSteps, type ChoiceStep, type Step, type TextStep } from '#vscode/forms/askSteps.ts';
import type { ChoiceMemory } from '#vscode/grading/chooseSource.ts';
import { aiPolicies, exposures, otherDevices, tiers } from './words.ts';

const memoryKey = 'baseline.startForm';
/** Asked anew for each attempt: what holds for one task says nothing about another. */
const neverRemembered = ['exposure', 'exposureNote'];

const isMeasured = ({ kind }: Answers): boolean => kind === 'measured';

function optional(key: string, ask: string, example: string): TextStep {
  return { kind: 'text', key, ask: `${ask} (may stay empty)`, example, isAsked: isMeasured };
}

function choice(key: string, ask: string, words: Readonly<Record<string, ChoiceWords>>): ChoiceStep {
  const items = Object.entries(words).map(([value, item]) => ({ value, ...item }));
  return { kind: 'choice', key, ask, items, isAsked: isMeasured };
}

interface ChoiceWords {
  readonly label: string;
  readonly detail: string;
}

/** Nothing of the spec is shown before the contamination question is answered and the clock is started. */
export const startSteps: readonly Step[] = [
  {
    kind: 'choice',
    key: 'kind',
    ask: 'How is this attempt meant?',
    items: [
      {
        value: 'practice',
        label: 'Practice',
        detail: 'The clock runs as soon as the workspace is open. Grades show everything.',
      },
      {
        value: 'measured',
        label: 'Measured attempt',
        detail: 'Conditions come before the spec, and the clock stands until you start it.',
      },
    ],
  },
  {
    kind: 'text',
    key: 'pseudonym',
    ask: 'Under which pseudonym do you build? Never your name.',
    example: 'builder-07',
    isAsked: isMeasured,
    check: (text) =>
      text === '' ? 'A pseudonym is needed.' : text.length > 80 ? 'At most 80 characters.' : undefined,
  },
  choice('exposure', 'What did you know of this task before?', exposures),
  {
    ...optional('exposureNote', 'What did you know, and since when?', 'Read its parser two years ago'),
    isAsked: (answers) => isMeasured(answers) && !['none', undefined].includes(answers.exposure),
  },
  {
    ...optional('experienceYears', 'Years of work as a developer', '5'),
    check: (text) =>
      /^(\d{1,2}([.,]\d+)?)?$/.test(text) ? undefined : 'A number of years, such as 5 or 2.5.',
  },
  optional('expertise', 'What you are good at, with commas between', 'Python, databases'),
  choice('aiPolicy', 'May AI help?', aiPolicies),
  {
    ...optional('aiTools', 'Which AI tools, with versions', 'An assistant 1.2 with model 3'),
    isAsked: (answers) => isMeasured(answers) && answers.aiPolicy === 'allowed',
  },
  choice('otherDevice', 'What may you look at on other devices? It is not controlled.', otherDevices),
  choice('tier', 'What does a grade show while the attempt is open?', tiers),
  choice('interimGrading', 'May you grade before you submit?', {
    yes: { label: 'Yes', detail: 'Each grade is recorded with what it showed.' },
    no: { label: 'No', detail: 'Only the final submission is graded. “Try setup” shows nothing hidden.' },
  }),
  optional('compensation', 'How you are paid, with the rule of a bonus', '60 an hour, 100 if it is resolved'),
  optional('consent', 'Where your consent is kept, or the number of an ethics approval', 'ERB 2026-17'),
  optional(
    'recording',
    'Where the recording of screen or audio is, if there is one',
    'screen-07.mkv, starts 10:02',
  ),
  choice('confirm', 'These conditions are fixed from here on.', {
    yes: {
      label: 'Prepare the workspace',
      detail: 'Its window opens; the clock stands and the spec is not shown until you start it.',
    },
  }),
];

/** Asks how the attempt is meant; undefined is practice. Rejects with `CancelledError`: then nothing is started. */
export async function askProtocol(
  taskName: string,
  memory: ChoiceMemory,
): Promise<AttemptProtocol | undefined> {
  const answers = await askSteps(`Start attempt at ${taskName}`, startSteps, remembered(memory));
  const kept = Object.entries(answers).filter(([key]) => !neverRemembered.includes(key));
  await memory.update(memoryKey, { ...remembered(memory), ...Object.fromEntries(kept) });
  return isMeasured(answers) ? protocolOf(answers) : undefined;
}

function remembered(memory: ChoiceMemory): Answers {
  const value = memory.get(memoryKey);
  if (typeof value !== 'object' || value === null) return {};
  const texts = Object.entries(value).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return Object.fromEntries(texts);
}

/** The conditions by the answers of a measured attempt. */
export function protocolOf(answers: Answers): AttemptProtocol {
  const years = (answers.experienceYears ?? '').replace(',', '.');
  const optionals = ['exposureNote', 'aiTools', 'compensation', 'consent', 'recording'] as const;
  const given = optionals.flatMap((key) => (answers[key] ? [[key, answers[key]] as const] : []));
  return {
    pseudonym: answers.pseudonym ?? '',
    exposure: answers.exposure as AttemptProtocol['exposure'],
    experienceYears: years === '' ? null : Number(years),
    expertise: (answers.expertise ?? '')
      .split(',')
      .map((tag) => tag.trim())
      .filter(Boolean),
    aiPolicy: answers.aiPolicy as AttemptProtocol['aiPolicy'],
    otherDevice: answers.otherDevice as AttemptProtocol['otherDevice'],
    tier: answers.tier as AttemptProtocol['tier'],
    interimGrading: answers.interimGrading === 'yes',
    ...Object.fromEntries(given),
  };
}

import type { AttemptProtocol } from '#core/attempt/protocol.ts';

type Words<K extends string> = Readonly<Record<K, { readonly label: string; readonly detail: string }>>;

export const exposures: Words<AttemptProtocol['exposure']> = {
  none: { label: 'Nothing', detail: 'Neither the task nor the program that it is of.' },
  package: {
    label: 'The program or its code',
    detail: 'Used or read the package or repository that it is of.',
  },
  task: { label: 'The task', detail: 'Saw its spec, its tests, or somebody work on it.' },
  author: { label: 'Its author', detail: 'Wrote the task, or the program that it is of.' },
};

export const aiPolicies: Words<AttemptProtocol['aiPolicy']> = {
  none: {
    label: 'No AI',
    detail: 'VS Code’s AI is switched off in the window of the attempt.',
  },
  allowed: { label: 'AI is allowed', detail: 'Which, with versions, is asked next.' },
};

export const otherDevices: Words<AttemptProtocol['otherDevice']> = {
  nothing: { label: 'Nothing', detail: 'All work is in the window of the attempt.' },
  documentation: { label: 'Documentation', detail: 'Manuals and references of languages and libraries.' },
  internet: {
    label: 'The internet',
    detail: 'Everything but the task’s own program and AI that is not allowed.',
  },
};

export const tiers: Words<AttemptProtocol['tier']> = {
  counts: { label: 'Counts', detail: 'How many hidden tests passed.' },
  names: { label: 'Names', detail: 'Which hidden tests passed, by name.' },
  messages: { label: 'Messages', detail: 'Names, and the message of each failure.' },
  full: { label: 'Full', detail: 'Everything: messages, traces, logs and live output.' },
};

/** The conditions as pairs for a list; optional ones only where they were given. */
export function conditionFacts(
  protocol: AttemptProtocol,
): readonly (readonly [name: string, value: string])[] {
  const facts: (readonly [string, string | undefined])[] = [
    ['Pseudonym', protocol.pseudonym],
    ['Known before', exposures[protocol.exposure].label],
    ['What was known', protocol.exposureNote],
    ['Experience', protocol.experienceYears === null ? undefined : `${protocol.experienceYears} years`],
    ['Expertise', protocol.expertise.join(', ') || undefined],
    ['AI', aiPolicies[protocol.aiPolicy].label],
    ['AI tools', protocol.aiTools],
    ['Other devices', otherDevices[protocol.otherDevice].label],
    ['Grades show', tiers[protocol.tier].label],
    ['Grading before the submission', protocol.interimGrading ? 'allowed' : 'not allowed'],
    ['Compensation', protocol.compensation],
    ['Consent', protocol.consent],
    ['Recording', protocol.recording],
  ];
  return facts.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
}

/** What no measured attempt controls, each as a name and a sentence. */
export const notControlled: readonly (readonly [name: string, sentence: string])[] = [
  [
    'This machine',
    'Programs outside the container, a browser with the internet among them, are neither blocked nor recorded.',
  ],
  [
    'Other devices',
    'A phone or a second computer leaves no trace here. Only a recording of screen and room shows them.',
  ],
  [
    'Other extensions',
    'Extensions of VS Code can reach the network and show text. They are listed in the record, not blocked.',
  ],
  [
    'The record itself',
    'It is kept outside the container, where nothing in the attempt reaches it. Whoever owns this machine can change it.',
  ],
];

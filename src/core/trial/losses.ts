import type { Mark } from '#core/report/types.ts';
import { fromBytes } from './archive.ts';

/** What a host folder cannot keep of a submission, by rule, with the sentence that says so of `N entries`. */
const rules = {
  'owner-lost': 'belonged to other users than the one who made the trial; a trial folder keeps no owners',
  'setuid-dropped': 'had a set-user-ID or set-group-ID bit, which is not put on a host',
  'mode-widened': 'could not be read by the user who made the trial; the owner was given the right',
  'name-not-held': 'have a name or kind that this host cannot hold, and were left out',
  'name-taken': 'have a name that this host takes for an earlier one (letter case), and were left out',
  'link-target-missing': 'are hard links to files that were left out',
  'not-a-file': 'are no file, folder or link, and were left out',
  'not-declared': 'lie in no declared artifact: Harbor carries only artifacts to the verifier',
  'not-taken': 'were not in the submission',
} as const;

export type LossRule = keyof typeof rules;

/** Counts what was lost, with a few examples of each kind. */
export class Losses {
  readonly #found = new Map<LossRule, { count: number; examples: string[] }>();

  /** `name`: bytes. */
  add(rule: LossRule, name: string): void {
    const entry = this.#found.get(rule) ?? { count: 0, examples: [] };
    entry.count += 1;
    if (entry.examples.length < 3) entry.examples.push(fromBytes(name).slice(0, 120));
    this.#found.set(rule, entry);
  }

  marks(): readonly Mark[] {
    return [...this.#found].map(([rule, { count, examples }]) => ({
      rule,
      message: `${count} ${count === 1 ? 'entry' : 'entries'} ${rules[rule]}: ${examples.join(', ')}${count > examples.length ? ', …' : ''}.`,
    }));
  }
}

import { z } from 'zod';

/**
 * What a grade shows its builder while the attempt is open, the least first: how many passed; which, by name; why, by
 * message; and all, traces, logs and live output too.
 */
export const tierSchema = z.enum(['counts', 'names', 'messages', 'full']);

export type Tier = z.infer<typeof tierSchema>;

/**
 * The conditions of a measured attempt, fixed before its builder sees the spec; an attempt without them is practice,
 * and shows all. Source: what the METR and HCAST baselines recorded, and the reporting checklist for human baselines.
 */
export const protocolSchema = z.object({
  /** Who builds; never a name. */
  pseudonym: z.string().min(1).max(80),
  /** What they knew before: of the task, of the repository or package that it is of, or as author of either. */
  exposure: z.enum(['none', 'package', 'task', 'author']),
  exposureNote: z.string().exactOptional(),
  /** Years of work as a developer; null: not said. */
  experienceYears: z.number().nonnegative().nullable(),
  expertise: z.array(z.string()),
  /** Whether AI may help at all; `none` switches the editor's own AI features off. */
  aiPolicy: z.enum(['none', 'allowed']),
  /** Which, with versions, where it is allowed. */
  aiTools: z.string().exactOptional(),
  /** What may be looked at on another device: it is not controlled. */
  otherDevice: z.enum(['nothing', 'documentation', 'internet']),
  tier: tierSchema,
  /** Whether the builder may grade before submitting. */
  interimGrading: z.boolean(),
  /** How they are paid, with the rule of a bonus. */
  compensation: z.string().exactOptional(),
  /** Where their consent is kept, or the number of an ethics approval. */
  consent: z.string().exactOptional(),
  /** Screen or audio recording made outside of us: where it is. */
  recording: z.string().exactOptional(),
});

export type AttemptProtocol = z.infer<typeof protocolSchema>;

/** What the builder says when it is over. */
export const debriefSchema = z.object({
  /** 1 trivial to 5 very hard. */
  difficulty: z.number().int().min(1).max(5).nullable(),
  /** Their own estimate of the active time that the task takes someone like them, in minutes. */
  estimateMinutes: z.number().nonnegative().nullable(),
  approach: z.string(),
  deadEnds: z.string(),
  /** What the spec leaves open, or says otherwise than the tests. */
  ambiguities: z.string(),
  /** AI that was used all the same, or how; empty: none. */
  aiUse: z.string(),
});

export type AttemptDebrief = z.infer<typeof debriefSchema>;

/** What a builder may see of a grade of an open attempt. */
export function tierOf(attempt: { readonly protocol?: AttemptProtocol }): Tier {
  return attempt.protocol?.tier ?? 'full';
}

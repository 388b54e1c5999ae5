import { z } from 'zod';

const count = z.number().int().min(0);

/** What `grade --json` prints, as its users may rely on it; more keys may come, none of these may go. */
export const gradeSchema = z.looseObject({
  task: z.looseObject({ name: z.string(), path: z.string(), digest: z.string().startsWith('sha256:') }),
  verdict: z.enum(['resolved', 'unresolved', 'not graded']),
  reason: z.string().optional(),
  reward: z.number().nullable(),
  counts: z.strictObject({
    expected: count.nullable(),
    reported: count,
    passed: count,
    failed: count,
    skipped: count,
    pending: count,
    other: count,
    notReported: count,
  }),
  tests: z.array(
    z.looseObject({
      id: z.string().min(1),
      name: z.string(),
      suite: z.array(z.string()),
      status: z.enum(['passed', 'failed', 'skipped', 'pending', 'other']),
      durationMs: z.number().optional(),
      message: z.string().optional(),
      trace: z.string().optional(),
      file: z.string().optional(),
      line: z.number().int().positive().optional(),
    }),
  ),
  phases: z.array(z.strictObject({ name: z.string(), durationMs: z.number().min(0) })),
  evidence: z.looseObject({}),
  marks: z.array(z.strictObject({ rule: z.string(), message: z.string() })),
  problems: z.array(z.looseObject({ code: z.string(), message: z.string() })),
  dir: z.string(),
});

/** What `tasks --json` prints. */
export const tasksSchema = z.array(
  z.looseObject({
    name: z.string(),
    path: z.string(),
    valid: z.boolean(),
    gradable: z.boolean(),
    problems: z.array(
      z.looseObject({
        code: z.string(),
        message: z.string(),
        file: z.string().optional(),
        line: z.number().int().positive().optional(),
      }),
    ),
    config: z.looseObject({}).optional(),
  }),
);

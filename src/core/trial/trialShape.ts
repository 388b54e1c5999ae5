import { z } from 'zod';

/** What is read of a trial's own result; older and newer files lack or add keys (harbor.md §6.2), so all is loose. */

/** NaN and the infinities, which Python writes bare, are null as in Harbor's own dumps. */
const number = z
  .union([
    z.number(),
    z.nan(),
    z.literal(Number.POSITIVE_INFINITY),
    z.literal(Number.NEGATIVE_INFINITY),
    z.null(),
  ])
  .transform((value) => (Number.isFinite(value) ? value : null));
const exception = z.looseObject({
  exception_type: z.string().default('Exception'),
  exception_message: z.string().default(''),
});
const verifierResult = z.looseObject({ rewards: z.record(z.string(), number).nullish() });
const timing = z.looseObject({ started_at: z.string().nullish(), finished_at: z.string().nullish() });

export const harborResult = z.looseObject({
  task_name: z.string(),
  /** Of a task in a folder; others have an address. */
  task_id: z.looseObject({ path: z.string().nullish() }).nullish().catch(null),
  trial_name: z.string().default(''),
  agent_info: z
    .looseObject({
      name: z.string().default(''),
      version: z.string().default(''),
      model_info: z.looseObject({ name: z.string().default('') }).nullish(),
    })
    .nullish(),
  verifier_result: verifierResult.nullish(),
  verifier_environment_mode: z.string().nullish(),
  exception_info: exception.nullish(),
  started_at: z.string().nullish(),
  finished_at: z.string().nullish(),
  verifier: timing.nullish(),
  step_results: z
    .array(
      z.looseObject({
        step_name: z.string(),
        verifier_result: verifierResult.nullish(),
        exception_info: exception.nullish(),
      }),
    )
    .nullish(),
  /** BenchFlow's. */
  rewards: z.record(z.string(), number).nullish(),
  error: z.string().nullish(),
  verifier_error: z.string().nullish(),
});

export type HarborResult = z.infer<typeof harborResult>;

/** terminal-bench v1's `results.json` of a trial. */
export const terminalBenchResult = z.looseObject({
  task_id: z.string(),
  trial_name: z.string().default(''),
  is_resolved: z.boolean().nullable(),
  failure_mode: z.string().nullish(),
  parser_results: z.record(z.string(), z.string()).nullish(),
  trial_started_at: z.string().nullish(),
  trial_ended_at: z.string().nullish(),
});

export type TerminalBenchResult = z.infer<typeof terminalBenchResult>;

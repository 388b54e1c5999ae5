import { z } from 'zod';
import { bool, float, int } from '#core/task/lax.ts';

/**
 * ATIF v1.7, Harbor's format of a trajectory, by the rules of Harbor's own validator: the same for every version, and
 * lax with numbers as pydantic is (harbor.md §7; RFC 0001 of Harbor).
 */

const text = z.object({ type: z.literal('text'), text: z.string() }).strict();
const image = z
  .object({
    type: z.literal('image'),
    source: z
      .object({
        media_type: z.enum(['image/jpeg', 'image/png', 'image/gif', 'image/webp']),
        path: z.string(),
      })
      .strict(),
  })
  .strict();
const content = z.union([z.string(), z.array(z.discriminatedUnion('type', [text, image]))]);
const object = z.record(z.string(), z.unknown());
const count = int.pipe(z.number().nonnegative());

const toolCall = z
  .object({
    tool_call_id: z.string(),
    function_name: z.string(),
    arguments: object,
    extra: object.nullish(),
  })
  .strict();

const subagentRef = z
  .object({
    trajectory_id: z.string().nullish(),
    trajectory_path: z.string().nullish(),
    session_id: z.string().nullish(),
    extra: object.nullish(),
  })
  .strict()
  .refine((ref) => ref.trajectory_id != null || ref.trajectory_path != null, {
    error: 'names neither a trajectory_id nor a trajectory_path',
  });

const observation = z
  .object({
    results: z.array(
      z
        .object({
          source_call_id: z.string().nullish(),
          content: content.nullish(),
          subagent_trajectory_ref: z.array(subagentRef).nullish(),
          extra: object.nullish(),
        })
        .strict(),
    ),
  })
  .strict();

const metrics = z
  .object({
    prompt_tokens: int.nullish(),
    completion_tokens: int.nullish(),
    cached_tokens: int.nullish(),
    cost_usd: float.nullish(),
    prompt_token_ids: z.array(int).nullish(),
    completion_token_ids: z.array(int).nullish(),
    logprobs: z.array(float).nullish(),
    extra: object.nullish(),
  })
  .strict();

const step = z
  .object({
    step_id: int.pipe(z.number().min(1)),
    timestamp: z
      .string()
      .refine((value) => /^\d{4}-\d{2}-\d{2}/.test(value) && !Number.isNaN(Date.parse(value)), {
        error: 'is no ISO 8601 time',
      })
      .nullish(),
    source: z.enum(['system', 'user', 'agent']),
    model_name: z.string().nullish(),
    reasoning_effort: z.union([z.string(), float]).nullish(),
    message: content,
    reasoning_content: z.string().nullish(),
    tool_calls: z.array(toolCall).nullish(),
    observation: observation.nullish(),
    metrics: metrics.nullish(),
    is_copied_context: bool.nullish(),
    llm_call_count: count.nullish(),
    extra: object.nullish(),
  })
  .strict()
  .superRefine((value, context) => {
    const own = ['model_name', 'reasoning_effort', 'reasoning_content', 'tool_calls', 'metrics'] as const;
    for (const key of own)
      if (value.source !== 'agent' && value[key] != null)
        context.addIssue({ code: 'custom', message: `${key} is for steps of the agent` });
    if (value.llm_call_count !== 0 || value.source !== 'agent') return;
    for (const key of ['metrics', 'reasoning_content'] as const)
      if (value[key] != null) context.addIssue({ code: 'custom', message: `${key} beside llm_call_count 0` });
  });

const finalMetrics = z
  .object({
    total_prompt_tokens: int.nullish(),
    total_completion_tokens: int.nullish(),
    total_cached_tokens: int.nullish(),
    total_cost_usd: float.nullish(),
    total_steps: count.nullish(),
    extra: object.nullish(),
  })
  .strict();

const trajectory = z
  .object({
    schema_version: z
      .enum(['1.0', '1.1', '1.2', '1.3', '1.4', '1.5', '1.6', '1.7'].map((version) => `ATIF-v${version}`))
      .optional(),
    session_id: z.string().nullish(),
    trajectory_id: z.string().nullish(),
    agent: z
      .object({
        name: z.string(),
        version: z.string(),
        model_name: z.string().nullish(),
        tool_definitions: z.array(object).nullish(),
        extra: object.nullish(),
      })
      .strict(),
    steps: z.array(step).min(1),
    notes: z.string().nullish(),
    final_metrics: finalMetrics.nullish(),
    continued_trajectory_ref: z.string().nullish(),
    extra: object.nullish(),
    get subagent_trajectories() {
      return z.array(trajectory).nullish();
    },
  })
  .strict()
  .superRefine(({ steps, subagent_trajectories: embedded }, context) => {
    const problem = (message: string): void => context.addIssue({ code: 'custom', message });
    steps.forEach(({ step_id, tool_calls, observation: seen }, index) => {
      if (step_id !== index + 1) problem(`steps.${index}: step_id is ${step_id}, not ${index + 1}`);
      const calls = new Set((tool_calls ?? []).map(({ tool_call_id }) => tool_call_id));
      for (const { source_call_id: id } of seen?.results ?? [])
        if (id != null && !calls.has(id)) problem(`steps.${index}: no tool call of the step is "${id}"`);
    });
    const ids = (embedded ?? []).map(({ trajectory_id }) => trajectory_id);
    if (ids.some((id) => id == null)) problem('an embedded trajectory has no trajectory_id');
    if (new Set(ids).size !== ids.length) problem('two embedded trajectories have the same trajectory_id');
  });

export type Trajectory = z.output<typeof trajectory>;
export type TrajectoryStep = z.output<typeof step>;

/** What is wrong with a document by the rules of ATIF, each with its place in front; empty for a valid one. */
export function trajectoryProblems(document: unknown): readonly string[] {
  const parsed = trajectory.safeParse(document);
  return (parsed.error?.issues ?? []).map(({ path, message }) => {
    const place = path.map(String).join('.');
    return place ? `${place}: ${message}` : message;
  });
}

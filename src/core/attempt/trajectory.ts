import type { Trajectory } from '#core/trial/atif.ts';
import { applyLine, type ClockState, newClock } from './clock.ts';
import type { RecordLine } from './recordEvents.ts';
import { TrajectorySteps } from './trajectorySteps.ts';
import type { AttemptRecord } from './types.ts';

export interface TrajectoryInput {
  readonly record: AttemptRecord;
  /** What the builder was given. */
  readonly spec: string;
  readonly lines: AsyncIterable<RecordLine>;
  /** Of `readExcerpts`. */
  readonly outputs: ReadonlyMap<string, string>;
  /** False: what people wrote freely, notes and reasons, is left out. */
  readonly freeText: boolean;
  /** More of the conditions, for `extra`. */
  readonly extra: Readonly<Record<string, unknown>>;
  /** What is to be said of the record itself. */
  readonly notes?: string | undefined;
}

/**
 * A human's session as an ATIF v1.7 trajectory (harbor.md §7): the spec is the user's step, what the builder did are
 * steps of the agent "human" with tool calls, pauses and ends are the system's. Nothing is said of tokens and costs:
 * there are none.
 */
export async function makeTrajectory(input: TrajectoryInput): Promise<Trajectory> {
  const { record, outputs, freeText } = input;
  const steps = new TrajectorySteps({ outputs, freeText });
  steps.spec(input.spec, record.createdAt);
  let clock: ClockState = newClock;
  let editor: (RecordLine & { kind: 'editor' }) | undefined;
  for await (const line of input.lines) {
    const before = clock;
    clock = applyLine(clock, line);
    if (line.kind === 'editor') editor = line;
    steps.apply(line, before, clock);
  }
  const made = steps.finish();
  const { wallMs, unpausedMs, focusedMs, activeMs, waitingMs, idleMs } = clock;
  return {
    schema_version: 'ATIF-v1.7',
    session_id: record.id,
    trajectory_id: record.id,
    agent: {
      name: 'human',
      version: editor?.version ?? 'unknown',
      extra: {
        editor: editor?.name ?? null,
        extensions: editor?.extensions ?? [],
        mode: record.mode,
      },
    },
    steps: made,
    ...(input.notes === undefined ? {} : { notes: input.notes }),
    final_metrics: {
      total_steps: made.length,
      extra: {
        ...{ wall_ms: round(wallMs), unpaused_ms: round(unpausedMs), focused_ms: round(focusedMs) },
        ...{ active_ms: round(activeMs), waiting_ms: round(waitingMs), idle_ms: round(idleMs) },
      },
    },
    extra: { ...input.extra },
  };
}

function round(ms: number): number {
  return Math.round(ms);
}

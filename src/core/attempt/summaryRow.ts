import { createHash } from 'node:crypto';
import { errorMessage } from '#core/base/errors.ts';
import { readGrade } from '#core/grading/store.ts';
import type { GradeResult } from '#core/grading/types.ts';
import { contentDigest } from '#core/task/digest.ts';
import { loadTask } from '#core/task/load.ts';
import { readSpec } from '#core/task/spec.ts';
import type { AttemptStore } from './attemptStore.ts';
import { applyLine, type ClockPause, type ClockState, newClock } from './clock.ts';
import { plainReason } from './plainReason.ts';
import { readRecordLines } from './readRecordLog.ts';
import type { RecordLine } from './recordEvents.ts';
import { recordFileOf } from './recorder.ts';
import { isOver, reasonOf } from './states.ts';
import type { AttemptRecord } from './types.ts';

/**
 * What is told of one attempt, with the fields that METR's and HCAST's baselines have (baseline-protocol.md). Times are
 * ISO 8601 UTC and seconds; null: not known, or not said.
 */
export type SummaryRow = ReturnType<typeof rowOf>;

interface Told {
  clock: ClockState;
  editor: (RecordLine & { kind: 'editor' }) | undefined;
  startedAt: string | null;
  specOpenedAt: string | null;
  aiFeatures: (RecordLine & { kind: 'ai-features' }) | undefined;
  readonly scores: object[];
  readonly shownElsewhere: object[];
  readonly counts: Record<'edits' | 'agent_edits' | 'saves' | 'commands' | 'notes' | 'terminals', number>;
}

/** Reads what there is of an attempt. `freeText`: with what people wrote in their own words. Never throws for bad files. */
export async function summariseAttempt(
  store: AttemptStore,
  record: AttemptRecord,
  freeText: boolean,
): Promise<SummaryRow> {
  const told = record.damage === undefined ? await readTold(store, record) : emptyTold();
  const official = record.grades.findLast((grade) => grade.official);
  const grade = official && (await readGrade(official.dir).catch((error: unknown) => errorMessage(error)));
  return rowOf(record, told, grade, await specHash(record), freeText);
}

function emptyTold(): Told {
  return {
    clock: newClock,
    editor: undefined,
    startedAt: null,
    specOpenedAt: null,
    aiFeatures: undefined,
    scores: [],
    shownElsewhere: [],
    counts: { edits: 0, agent_edits: 0, saves: 0, commands: 0, notes: 0, terminals: 0 },
  };
}

async function readTold(store: AttemptStore, record: AttemptRecord): Promise<Told> {
  const told = emptyTold();
  const { counts, scores } = told;
  for await (const line of readRecordLines(recordFileOf(store.dirOf(record.id)))) {
    told.clock = applyLine(told.clock, line);
    if (line.kind === 'thawed') told.startedAt ??= line.utc;
    else if (line.kind === 'editor') told.editor = line;
    else if (line.kind === 'ai-features') told.aiFeatures = line;
    else if (line.kind === 'milestone' && line.what === 'spec-opened') told.specOpenedAt ??= line.utc;
    else if (line.kind === 'revealed-outside')
      told.shownElsewhere.push({ at: line.at, what: line.what, tier: line.tier });
    else if (line.kind === 'edit' && line.actor !== 'external')
      counts[line.actor === 'agent' ? 'agent_edits' : 'edits']++;
    else if (line.kind === 'saved') counts.saves++;
    else if (line.kind === 'command') counts.commands++;
    else if (line.kind === 'note') counts.notes++;
    else if (line.kind === 'terminal') counts.terminals++;
    else if (line.kind === 'graded')
      scores.push({
        at: line.utc,
        unpaused_sec: seconds(told.clock.unpausedMs),
        active_sec: seconds(told.clock.activeMs),
        official: line.official,
        verdict: line.verdict,
        revealed: line.revealed,
      });
    else if (line.kind === 'grade-failed')
      scores.push({ at: line.utc, official: line.official, verdict: 'not made' });
  }
  return told;
}

/** Of the text that the builder was shown; null where the task is gone or is another one by now. */
async function specHash({ task }: AttemptRecord): Promise<string | null> {
  try {
    const { task: found } = await loadTask(task.path);
    if (!found || (await contentDigest(found.dir)) !== task.digest) return null;
    return createHash('sha256')
      .update(await readSpec(found))
      .digest('hex');
  } catch {
    return null;
  }
}

function rowOf(
  record: AttemptRecord,
  { clock, editor, startedAt, specOpenedAt, aiFeatures, scores, shownElsewhere, counts }: Told,
  grade: GradeResult | string | undefined,
  specSha256: string | null,
  freeText: boolean,
) {
  const { protocol, debrief, state } = record;
  // What its builder may not see yet is in no summary either.
  const isHidden = protocol !== undefined && !isOver(state) && state !== 'lost';
  const known = typeof grade === 'object' && !isHidden ? grade : undefined;
  const own = <T>(text: T | undefined): T | null => (freeText ? (text ?? null) : null);
  const said = reasonOf(record);
  const end = record.history.findLast((step) => isOver(step.state) && step.state !== 'disqualified');
  const pauses = pausesOf(record, clock.pauses, freeText);
  return {
    attempt: record.id,
    task: record.task.name,
    task_digest: record.task.digest,
    spec_sha256: specSha256,
    image: record.image.reference,
    image_id: record.image.id,
    cpus: record.limits.cpus,
    memory_mb: record.limits.memoryMb,
    network: 'none',
    measured: protocol !== undefined,
    builder: protocol?.pseudonym ?? null,
    exposure: protocol?.exposure ?? null,
    exposure_note: own(protocol?.exposureNote),
    is_author: protocol ? protocol.exposure === 'author' : null,
    experience_years: protocol?.experienceYears ?? null,
    expertise: protocol?.expertise ?? [],
    compensation: own(protocol?.compensation),
    consent: own(protocol?.consent),
    recording: own(protocol?.recording),
    ai_policy: protocol?.aiPolicy ?? null,
    ai_tools: own(protocol?.aiTools),
    ai_features_on: aiFeatures ? [...aiFeatures.on, ...aiFeatures.extensions] : null,
    other_device: protocol?.otherDevice ?? null,
    tier: protocol?.tier ?? 'full',
    interim_grading: protocol?.interimGrading ?? true,
    mode: record.mode,
    editor: editor ? `${editor.name} ${editor.version}` : null,
    extensions: editor?.extensions ?? [],
    forked_from: record.forkedFrom?.attempt ?? null,
    budget_sec: record.budgetSec,
    created_at: record.createdAt,
    environment_ready_at: record.history.find((step) => step.state === 'ready')?.at ?? null,
    spec_opened_at: specOpenedAt,
    started_at: startedAt,
    ended_at: end?.at ?? null,
    wall_sec: seconds(clock.wallMs),
    unpaused_sec: seconds(clock.unpausedMs),
    focused_sec: seconds(clock.focusedMs),
    active_sec: seconds(clock.activeMs),
    waiting_sec: seconds(clock.waitingMs),
    idle_sec: seconds(clock.idleMs),
    paused_sec: seconds(clock.pauses.reduce((total, { ms }) => total + ms, 0)),
    pauses,
    ...counts,
    interim_grades: record.grades.filter(({ official }) => !official).length,
    score_events: isHidden ? [] : scores,
    shown_elsewhere: shownElsewhere,
    outcome: state,
    outcome_reason: said === undefined || freeText ? (said ?? null) : plainReason(said),
    submission_sha256: record.submission?.sha256 ?? null,
    official_verdict: known?.verdict ?? null,
    official_reason: known?.reason ?? (typeof grade === 'string' ? 'unreadable' : null),
    official_cause: known?.explanation?.cause ?? null,
    official_passed: known?.counts.passed ?? null,
    official_expected: known?.counts.expected ?? null,
    difficulty: debrief?.difficulty ?? null,
    estimate_minutes: debrief?.estimateMinutes ?? null,
    approach: own(debrief?.approach),
    dead_ends: own(debrief?.deadEnds),
    ambiguities: own(debrief?.ambiguities),
    ai_use: own(debrief?.aiUse),
    damage: record.damage === undefined ? null : 'attempt.json cannot be used',
  };
}

/** With what its builder said of a pause, where they did. */
function pausesOf({ history }: AttemptRecord, pauses: readonly ClockPause[], freeText: boolean) {
  return pauses.map(({ since, ms, reason }) => {
    const said =
      reason === 'pause'
        ? history.findLast((step) => step.state === 'paused' && step.at <= after(since))?.reason
        : undefined;
    const why = said ?? reason;
    return { since, sec: seconds(ms), reason: freeText ? why : plainReason(why) };
  });
}

/** A pause is on disk before the workspace is frozen for it; the two are told by one clock. */
function after(since: string): string {
  const ms = Date.parse(since);
  return Number.isNaN(ms) ? since : new Date(ms + 1_000).toISOString();
}

function seconds(ms: number): number {
  return Math.round(ms) / 1000;
}

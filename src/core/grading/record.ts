import { rm } from 'node:fs/promises';
import path from 'node:path';
import { writeFileAtomic } from '#core/base/files.ts';
import type { Change, EngineInfo, ImageInfo, LimitName } from '#core/container/engine.ts';
import { countTests } from '#core/report/countTests.ts';
import type { Decision } from '#core/report/decide.ts';
import type { Mark, Report, Reward } from '#core/report/types.ts';
import { type UnresolvedReason, unresolvedReasons } from '#core/report/unresolvedReasons.ts';
import type { Task } from '#core/task/types.ts';
import type { Markers } from './markers.ts';
import type { GradePlan } from './plan.ts';
import { type NotGradedError, type NotGradedReason, notGradedReasons } from './reasons.ts';
import type { Submission } from './submission.ts';
import type { Evidence, GradeEvent, GradeResult, Phase, PhaseName, SubmissionSource } from './types.ts';

/** What a result says of its task; also there for a folder that is no valid task. */
export type GradedTask = Pick<Task, 'name' | 'dir' | 'testCaseCount'>;

/** Changed paths kept. */
const maxChanges = 200;

const limitNames: Readonly<Record<LimitName, string>> = { cpus: 'CPUs', memory: 'memory', pids: 'processes' };

const noReport: Report = { tests: [], state: 'none', notes: [] };

/** Gathers what a running grade learns, tells it as events, and makes the result of it. */
export class GradeRecord {
  readonly #task: GradedTask;
  readonly #dir: string;
  readonly #emit: (event: GradeEvent) => void;
  readonly #startedAt = new Date();
  readonly #phases: Phase[] = [];
  readonly #marks: Mark[] = [];
  #running: { name: PhaseName; since: number } | undefined;
  #evidence: Evidence;
  #digest = '';
  #expected: number | undefined;
  #reward: Reward = { state: 'none' };
  #report: Report = noReport;
  #decision: Decision | undefined;
  #setup: { readonly text: string; readonly nextStep: string } | undefined;
  #setupMissing = false;

  constructor(task: GradedTask, source: SubmissionSource, dir: string, emit: (event: GradeEvent) => void) {
    this.#task = task;
    this.#dir = dir;
    this.#emit = emit;
    this.#expected = task.testCaseCount;
    this.#evidence = { source: source.kind };
  }

  phase(name: PhaseName, title: string): void {
    this.#endPhase();
    this.#running = { name, since: performance.now() };
    this.#emit({ kind: 'phase', phase: name, title });
  }

  progress(message: string): void {
    this.#emit({ kind: 'progress', message });
  }

  output(chunk: string): void {
    this.#emit({ kind: 'output', chunk });
  }

  evidence(part: Partial<Evidence>): void {
    this.#evidence = { ...this.#evidence, ...part };
  }

  /** Of a hardened grade, both of the set-up and of the tests. */
  changedOutside(changes: readonly Change[]): void {
    const known = this.#evidence.changedOutside ?? [];
    const more = changes.map(({ kind, path: changed }) => `${kind} ${changed}`);
    this.evidence({ changedOutside: [...new Set([...known, ...more])].slice(0, maxChanges) });
  }

  marks(marks: readonly Mark[]): void {
    this.#marks.push(...marks);
  }

  taskDigest(digest: string): void {
    this.#digest = digest;
    this.evidence({ taskDigest: digest });
  }

  planned(plan: GradePlan, engine: EngineInfo): void {
    const { cpus, memoryMb, pids, clamped } = plan.limits;
    this.evidence({
      mode: plan.mode,
      engine: {
        ...{ product: engine.product, version: engine.version, os: engine.os, arch: engine.arch },
        rootless: engine.rootless,
      },
      limits: { cpus, memoryMb, pids, clamped },
      ...(plan.image.kind === 'build' ? { environmentId: plan.image.environmentId } : {}),
    });
    if (plan.mode === 'fresh (task asked shared)')
      this.marks([
        {
          rule: 'state-outside-workdir',
          message:
            'The task asks for the shared verifier; it was graded in a fresh container, so state outside the workdir was not graded.',
        },
      ]);
    if (plan.networkWanted)
      this.marks([
        {
          rule: 'graded-offline',
          message: 'The task allows its verifier a network; it was graded without one.',
        },
      ]);
    const dropped = engine.unenforced.filter(
      (limit) => !(limit === 'cpus' && cpus === null) && !(limit === 'memory' && memoryMb === null),
    );
    if (dropped.length > 0)
      this.marks([
        {
          rule: 'limit-not-enforced',
          message: `This engine cannot enforce the limit of ${dropped.map((limit) => limitNames[limit]).join(' and of ')}: what ran may have used more.`,
        },
      ]);
    if (clamped.length > 0)
      this.marks([
        {
          rule: 'limits-clamped',
          message: `This machine has less than the task asks for: ${clamped.join(', ')}.`,
        },
      ]);
  }

  image(image: ImageInfo, engine: EngineInfo, plan: GradePlan): void {
    const emulated = image.arch !== engine.arch;
    this.evidence({
      image: {
        id: image.id,
        reference: image.reference,
        ...(image.digest ? { digest: image.digest } : {}),
        os: image.os,
        arch: image.arch,
        emulated,
      },
    });
    if (emulated)
      this.marks([
        {
          rule: 'emulated',
          message: `The image is for ${image.arch} and ran emulated on ${engine.arch}: slow, and a time-out proves nothing.`,
        },
      ]);
    const workdir = plan.workdir ?? image.workdir;
    if (
      plan.mode !== 'fresh (task asked shared)' &&
      !plan.artifacts.some(
        ({ source }) => workdir === source || workdir.startsWith(`${source.replace(/\/$/, '')}/`),
      )
    ) {
      this.marks([
        {
          rule: 'workdir-not-declared',
          message: `task.toml does not declare ${workdir} as an artifact: Harbor would not carry it to the verifier.`,
        },
      ]);
    }
  }

  submission({ sha256, bytes, entries, skipped, wrappedIn }: Submission): void {
    this.evidence({ submission: { sha256, bytes, entries: entries.length, skipped } });
    if (wrappedIn !== undefined)
      this.marks([
        {
          rule: 'one-folder',
          message: `All that the archive holds is in one folder, "${wrappedIn}", and was graded there. If that folder is the workspace, grade an archive of its content (tar -C ${wrappedIn} .).`,
        },
      ]);
    if (skipped.length > 0)
      this.marks([
        {
          rule: 'entries-skipped',
          message: `${skipped.length === 1 ? '1 entry was' : `${skipped.length} entries were`} not taken: ${skipped.slice(0, 3).join(', ')}.`,
        },
      ]);
  }

  /** Replaces the one phase `verify` by what test.sh told of its phases. */
  phasesFromMarkers({ setupMs, testsMs }: Markers): void {
    const index = this.#phases.findIndex(({ name }) => name === 'verify');
    if (index === -1 || setupMs === undefined) return;
    this.#phases.splice(
      index,
      1,
      { name: 'setup', durationMs: Math.round(setupMs) },
      ...(testsMs === undefined ? [] : [{ name: 'tests' as const, durationMs: Math.round(testsMs) }]),
    );
  }

  /** What ended setup in a hardened grade, in words. */
  setupEnded(text: string): void {
    this.#setup = { text, nextStep: 'Open the output and repair setup.sh.' };
  }

  /** The exit code of setup.sh, and whether the submission has one. */
  setup(exit: number, present: boolean): void {
    this.#setup = present
      ? {
          text: `The submission's setup.sh failed with exit code ${exit}.`,
          nextStep: 'Open the output and repair setup.sh.',
        }
      : { text: 'The submission has no setup.sh.', nextStep: 'Write the setup.sh that the spec asks for.' };
  }

  /** No hidden test can pass for want of a setup.sh, which test.sh runs. */
  setupMissing(): void {
    this.#setupMissing = true;
  }

  /** A hardened grade's set-up failed: no test ran. */
  setupFailed(): void {
    this.judged({ state: 'none' }, noReport, {
      verdict: 'unresolved',
      reason: 'setup-failed',
      marks: [],
      reportState: 'none',
    });
  }

  judged(reward: Reward, report: Report, decision: Decision): void {
    this.#reward = reward;
    this.#report = report;
    this.#decision = decision;
    this.marks(decision.marks);
  }

  get isGraded(): boolean {
    return this.#decision !== undefined && this.#decision.verdict !== 'not graded';
  }

  finish(failure?: NotGradedError): GradeResult {
    this.#endPhase();
    const verdict = failure ? 'not graded' : (this.#decision?.verdict ?? 'not graded');
    const reason = failure?.reason ?? this.#decision?.reason;
    return {
      schemaVersion: 1,
      task: { name: this.#task.name, path: this.#task.dir, digest: this.#digest },
      verdict,
      ...(reason === undefined ? {} : { reason, explanation: this.#explain(reason, failure) }),
      reward: this.#reward.state === 'read' ? this.#reward.value : null,
      ...(this.#reward.state === 'read' ? { rewards: this.#reward.rewards } : {}),
      counts: countTests(this.#report, this.#expected),
      tests: this.#report.tests,
      phases: this.#phases,
      evidence: this.#evidence,
      marks: this.#marks,
      problems: this.#problems(),
      dir: this.#dir,
      startedAt: this.#startedAt.toISOString(),
      finishedAt: new Date().toISOString(),
    };
  }

  async save(result: GradeResult): Promise<void> {
    await writeFileAtomic(path.join(this.#dir, 'grade.json'), `${JSON.stringify(result, null, 2)}\n`);
  }

  /** Removes the folder of a grade that never was. */
  async discard(): Promise<void> {
    await rm(this.#dir, { recursive: true, force: true });
  }

  #explain(reason: string, failure: NotGradedError | undefined): NonNullable<GradeResult['explanation']> {
    if (Object.hasOwn(notGradedReasons, reason)) {
      const { text, nextStep, cause } = notGradedReasons[reason as NotGradedReason];
      return { text: failure?.message ?? text, nextStep: failure?.nextStep ?? nextStep, cause };
    }
    const known = unresolvedReasons[reason as UnresolvedReason];
    if (reason === 'setup-failed' && this.#setup) return { ...known, ...this.#setup };
    if (!this.#setupMissing || this.#report.tests.some(({ status }) => status === 'passed')) return known;
    return {
      ...known,
      text: `${known.text} The submission has no setup.sh, which the task's test.sh runs.`,
      nextStep: 'Write the setup.sh that the spec asks for.',
    };
  }

  #problems(): GradeResult['problems'] {
    const notes = this.#report.notes.map((message) => ({ code: 'report-note', message }));
    const reward =
      this.#reward.state === 'none'
        ? []
        : (this.#reward.notes ?? []).map((message) => ({ code: 'reward-note', message }));
    const unreadable =
      this.#reward.state === 'unreadable'
        ? [
            {
              code: 'reward-unreadable',
              message: `${this.#reward.error}: ${this.#reward.message}`,
              file: `verifier/${this.#reward.source}`,
            },
          ]
        : [];
    return [...unreadable, ...reward, ...notes];
  }

  #endPhase(): void {
    if (!this.#running) return;
    this.#phases.push({
      name: this.#running.name,
      durationMs: Math.round(performance.now() - this.#running.since),
    });
    this.#running = undefined;
  }
}

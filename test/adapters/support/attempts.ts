import { randomBytes } from 'node:crypto';
import type { AttemptClock } from '#core/attempt/attemptClock.ts';
import { newClock } from '#core/attempt/clock.ts';
import type { ScoreCurve } from '#core/attempt/curvePoints.ts';
import type { FreezeReason } from '#core/attempt/freezes.ts';
import { attemptsUnderWay } from '#core/attempt/hiddenTests.ts';
import type { OutsideReveal } from '#core/attempt/outsideReveals.ts';
import type { AttemptDebrief } from '#core/attempt/protocol.ts';
import type { Recorder } from '#core/attempt/recorder.ts';
import { emptySummary, type RecordSummary } from '#core/attempt/recordSummary.ts';
import type { ResetKind } from '#core/attempt/resetAttempt.ts';
import type { CurveEvent, CurveOptions } from '#core/attempt/scoreCurve.ts';
import type {
  AttachedMode,
  AttemptBridges,
  AttemptEvent,
  AttemptRecord,
  OpenAttempt,
  StartOptions,
} from '#core/attempt/types.ts';
import { CancelledError, UserError } from '#core/base/errors.ts';
import { Emitter } from '#core/base/event.ts';
import type { ContainerHandle } from '#core/container/engine.ts';
import type { FsChannel } from '#core/container/fsChannel.ts';
import type { IsolationProbe } from '#core/container/workspaceProbe.ts';
import type { GradeEvent } from '#core/grading/types.ts';
import { SnapshotStore, type TakenSnapshot } from '#core/snapshot/store.ts';
import type { SnapshotHead } from '#core/snapshot/types.ts';
import type { AttemptRoom } from '#vscode/attempts/ports.ts';
import { FakeFiles } from './fakeFiles.ts';

export const isolated: IsolationProbe = {
  hasNoNetwork: true,
  isConnectionRefused: true,
  connection: 'failed Network is unreachable',
  hasLoopbackOnly: true,
  interfaces: ['lo'],
  hasNoHostMounts: true,
  hasNoPrivileges: true,
  hasNoEngineSocket: true,
  bridges: [],
  isIsolated: true,
};

export function makeAttempt(id: string, more: Partial<AttemptRecord> = {}): AttemptRecord {
  return {
    schemaVersion: 3,
    id,
    task: { name: 'alpha', path: '/c/alpha', digest: 'sha256:0' },
    state: 'ready',
    mode: 'channel',
    createdAt: '2026-01-02T03:04:05.000Z',
    workdir: '/app',
    image: { reference: 'alpha', id: 'sha256:1' },
    volume: `e2e-swe-workspace-${id}`,
    roots: ['/app'],
    limits: { cpus: null, memoryMb: null },
    budgetSec: null,
    env: {},
    allowedHostEnv: [],
    history: [],
    grades: [],
    ...more,
  };
}

/** Attempts in memory, with a real session's shape over `FakeFiles`. */
export class FakeRoom implements AttemptRoom {
  readonly records = new Map<string, AttemptRecord>();
  readonly files = new FakeFiles();
  readonly calls: string[] = [];
  isSecondWindow = false;
  isSubmissionTaken = true;
  isolation = isolated;
  paths: readonly string[] = [];
  events: readonly GradeEvent[] = [];
  openError: Error | undefined;
  isRunning = true;

  add(record: AttemptRecord): AttemptRecord {
    this.records.set(record.id, record);
    return record;
  }

  async list(): Promise<readonly AttemptRecord[]> {
    return [...this.records.values()];
  }

  async read(id: string): Promise<AttemptRecord> {
    const record = this.records.get(id);
    if (!record) throw new UserError(`There is no attempt "${id}".`);
    return record;
  }

  async *start(_task: unknown, { protocol }: StartOptions = {}): AsyncGenerator<AttemptEvent> {
    const measured = protocol ? { protocol, state: 'paused' as const } : {};
    const attempt = this.add(makeAttempt(`new${randomBytes(2).toString('hex')}`, measured));
    yield { kind: 'preparing', attempt };
    yield { kind: 'phase', phase: 'image', title: 'Preparing the image' };
    yield { kind: 'ready', attempt, isolation: this.isolation, clamped: ['cpus 8 -> 2'] };
  }

  async open(id: string): Promise<OpenAttempt> {
    this.calls.push(`open ${id}`);
    if (this.openError) throw this.openError;
    const record = await this.read(id);
    const isOver = record.state === 'submitted' || record.state === 'gave-up';
    const details = async () => ({ running: this.isRunning, paused: false });
    const isPaused = record.state === 'paused';
    return {
      record: isOver || isPaused ? record : this.add({ ...record, state: 'running' }),
      ...(isPaused ? { frozenBecause: 'pause' as const } : {}),
      container: { details } as unknown as ContainerHandle,
      files: this.files as unknown as FsChannel,
      isolation: this.isolation,
      readOnly: isOver || this.isSecondWindow,
      how: 'was running',
      takeSnapshot: () => this.takeNow(),
      ...(this.recorder ? { recorder: this.recorder } : {}),
      onDidFreeze: this.freezes.event,
      close: async () => {
        this.calls.push(`close ${id}`);
      },
    };
  }

  async isTaken(): Promise<boolean> {
    return this.isSecondWindow;
  }

  async willNotTravel(): Promise<readonly string[]> {
    return this.paths;
  }

  bridgeReport: AttemptBridges = { bridges: [], notes: [], scrubbed: [], isolation: isolated };
  warnings: readonly string[] = [];

  async attachedMode(id: string): Promise<AttachedMode> {
    this.calls.push(`attach ${id}`);
    this.add({ ...(await this.read(id)), mode: 'attached' });
    return {
      folder: '/store/devcontainer',
      config: '/store/devcontainer/.devcontainer/devcontainer.json',
      attachedConfig: '/store/devcontainer/attached-container.json',
      uri: 'vscode-remote://attached-container+7b7d/app',
      idLabel: `attempt=${id}`,
      warnings: this.warnings,
    };
  }

  async bridges(id: string, { scrub }: { readonly scrub: boolean }): Promise<AttemptBridges> {
    this.calls.push(`bridges ${id}${scrub ? ' scrub' : ''}`);
    return this.bridgeReport;
  }

  async trySetup(): Promise<never> {
    throw new CancelledError();
  }

  async *grade(id: string): AsyncGenerator<GradeEvent> {
    this.calls.push(`grade ${id}`);
    this.freezes.fire('grade');
    try {
      for (const event of this.events) {
        yield event;
        await this.onGradeEvent(event);
      }
    } finally {
      this.freezes.fire(undefined);
    }
  }

  /** What happens meanwhile. */
  onGradeEvent: (event: GradeEvent) => Promise<void> = async () => undefined;
  /** What core does with the container of an open attempt. */
  readonly freezes = new Emitter<FreezeReason | undefined>();

  async keepWorking(id: string): Promise<void> {
    this.calls.push(`keep working ${id}`);
    if (this.isSubmissionTaken) this.freezes.fire(undefined);
  }

  async *submit(id: string): AsyncGenerator<GradeEvent> {
    this.calls.push(`submit ${id}`);
    for (const event of this.events) {
      if (event.kind === 'finished') this.add({ ...(await this.read(id)), state: 'submitted' });
      yield event;
    }
  }

  stored = new SnapshotStore('/nowhere');
  /** A snapshot of the open workspace. */
  takeNow: () => Promise<TakenSnapshot | undefined> = async () => undefined;
  /** What the engine takes, by hand and before a reset. */
  takeExact: () => Promise<SnapshotHead> = () => Promise.reject(new UserError('Nothing can be taken.'));

  async snapshots(): Promise<SnapshotStore> {
    return this.stored;
  }

  async snapshot(id: string): Promise<SnapshotHead> {
    this.calls.push(`snapshot ${id}`);
    return this.takeExact();
  }

  async *gradeSnapshot(id: string, snapshot: string): AsyncGenerator<GradeEvent> {
    this.calls.push(`grade ${id} as of ${snapshot}`);
    yield* this.events;
  }

  async *fork(id: string, snapshot: string): AsyncGenerator<AttemptEvent> {
    this.calls.push(`fork ${id} from ${snapshot}`);
    const attempt = this.add(makeAttempt('forked', { forkedFrom: { attempt: id, snapshot } }));
    yield { kind: 'phase', phase: 'container', title: 'Putting the files' };
    yield { kind: 'ready', attempt, isolation: this.isolation, clamped: [] };
  }

  async reset(id: string, snapshot: string, kind: ResetKind): Promise<SnapshotHead> {
    this.calls.push(`reset ${id} ${kind} to ${snapshot}`);
    return this.takeExact();
  }

  curve: ScoreCurve = {
    ...{ schemaVersion: 1, attempt: 'a1', task: { name: 'alpha', digest: 'sha256:0' }, total: 4, points: [] },
  };

  async *scoreCurve(id: string, options: CurveOptions): AsyncGenerator<CurveEvent> {
    this.calls.push(`curve ${id} every ${options.everyMinutes}${options.asAuthor ? ' as author' : ''}`);
    yield { kind: 'planned', points: 0, known: 0 };
    yield { kind: 'curve', curve: this.curve };
  }

  recorder: Recorder | undefined;

  async pause(id: string, reason: string | undefined): Promise<AttemptRecord> {
    this.calls.push(`pause ${id}: ${reason ?? ''}`);
    this.freezes.fire('pause');
    return this.add({ ...(await this.read(id)), state: 'paused' });
  }

  async resume(id: string): Promise<AttemptRecord> {
    this.calls.push(`resume ${id}`);
    this.freezes.fire(undefined);
    const record = await this.read(id);
    const step = { state: 'running', at: '2026-01-02T03:05:00.000Z' } as const;
    return this.add({ ...record, state: 'running', history: [...record.history, step] });
  }

  recorded: RecordSummary = emptySummary;

  async summary() {
    return { summary: this.recorded, lastLine: -1 };
  }

  async clock(): Promise<AttemptClock> {
    return { ...newClock, phase: 'over', budgetSec: null, leftSec: null };
  }

  async note(id: string, text: string): Promise<void> {
    this.calls.push(`note ${id}: ${text}`);
  }

  async debrief(id: string, debrief: AttemptDebrief): Promise<AttemptRecord> {
    return this.add({ ...(await this.read(id)), debrief });
  }

  async underWayAt(taskDir: string): Promise<readonly AttemptRecord[]> {
    return attemptsUnderWay([...this.records.values()], { path: taskDir, digests: [] });
  }

  async revealed(attempts: readonly Pick<AttemptRecord, 'id'>[], reveal: OutsideReveal): Promise<void> {
    for (const { id } of attempts) this.calls.push(`revealed ${id}: ${reveal.what} of ${reveal.of}`);
  }

  async giveUp(id: string): Promise<AttemptRecord> {
    return this.add({ ...(await this.read(id)), state: 'gave-up' });
  }

  async delete(id: string): Promise<void> {
    this.calls.push(`delete ${id}`);
    this.records.delete(id);
  }

  orphaned = ['e2e-swe-workspace-old'];

  async orphans() {
    return this.orphaned.map((name) => ({ name, attemptId: 'old', taskName: 'alpha', storeDir: undefined }));
  }

  async removeOrphan(name: string): Promise<void> {
    this.orphaned = this.orphaned.filter((other) => other !== name);
  }
}

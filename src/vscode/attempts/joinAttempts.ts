import type { AttemptStore } from '#core/attempt/attemptStore.ts';
import type { Attempts } from '#core/attempt/attempts.ts';
import type { Log } from '#core/base/log.ts';
import type { ContainerEngine } from '#core/container/engine.ts';
import type { EngineStatus } from '#vscode/engine/engineStatus.ts';
import { AttemptIndex } from './attemptIndex.ts';
import type { AttemptRoom } from './ports.ts';

export interface JoinAttemptsDeps {
  readonly engine: EngineStatus<ContainerEngine>;
  readonly storeDir: () => string;
  /** dist/guard.cjs */
  readonly guardScript: string;
  readonly log: Log;
}

interface Joined {
  readonly store: AttemptStore;
  readonly attempts: Attempts;
}

/** The attempts of the store, as the editor's parts share them. */
export function createAttempts(deps: JoinAttemptsDeps): AttemptIndex {
  return new AttemptIndex(joinAttempts(deps), deps.log);
}

/** Joins the editor to core's attempts, loaded at their first use; one room a store, since it keeps the locks. */
function joinAttempts({ engine, storeDir, guardScript, log }: JoinAttemptsDeps): AttemptRoom {
  let joined: Promise<Joined> | undefined;
  let joinedDir = '';
  const join = (): Promise<Joined> => {
    const dir = storeDir();
    if (joined && joinedDir === dir) return joined;
    joinedDir = dir;
    joined = load(dir);
    return joined;
  };
  const load = async (dir: string): Promise<Joined> => {
    const [{ AttemptStore }, { Attempts }] = await Promise.all([
      import('#core/attempt/attemptStore.ts'),
      import('#core/attempt/attempts.ts'),
    ]);
    const store = new AttemptStore(dir);
    const connect = (): Promise<ContainerEngine> => engine.connect();
    return { store, attempts: new Attempts({ store, connect, log, hostEnv: process.env, guardScript }) };
  };
  return {
    list: async () => (await join()).store.list(),
    read: async (id) => (await join()).store.read(id),
    async *start(task, options, signal) {
      yield* (await join()).attempts.start(task, options, signal);
    },
    open: async (id, signal) => (await join()).attempts.open(id, signal),
    isTaken: async (id) => (await (await join()).attempts.whoHas(id)) !== undefined,
    willNotTravel: async (id) => (await join()).attempts.willNotTravel(id),
    attachedMode: async (id, signal) => (await join()).attempts.attachedMode(id, signal),
    bridges: async (id, options, signal) => (await join()).attempts.bridges(id, options, signal),
    trySetup: async (id, onOutput, signal) => (await join()).attempts.trySetup(id, onOutput, signal),
    async *grade(id, options, signal) {
      yield* (await join()).attempts.grade(id, options, signal);
    },
    keepWorking: async (id) => (await join()).attempts.keepWorking(id),
    async *submit(id, signal, options) {
      yield* (await join()).attempts.submit(id, signal, options);
    },
    snapshots: async (id) => (await join()).attempts.snapshots(id),
    snapshot: async (id, signal) => (await join()).attempts.snapshot(id, signal),
    async *gradeSnapshot(id, snapshot, options, signal) {
      yield* (await join()).attempts.gradeSnapshot(id, snapshot, options, signal);
    },
    async *fork(id, snapshot, signal) {
      yield* (await join()).attempts.fork(id, snapshot, signal);
    },
    reset: async (id, snapshot, kind, signal) => (await join()).attempts.reset(id, snapshot, kind, signal),
    async *scoreCurve(id, options, signal) {
      yield* (await join()).attempts.scoreCurve(id, options, signal);
    },
    pause: async (id, reason) => (await join()).attempts.pause(id, reason),
    resume: async (id) => (await join()).attempts.resume(id),
    note: async (id, text) => (await join()).attempts.note(id, text),
    clock: async (id) => (await join()).attempts.clock(id),
    summary: async (id) => (await join()).attempts.summary(id),
    debrief: async (id, debrief) => (await join()).attempts.debrief(id, debrief),
    underWayAt: async (dir, digest) => (await join()).attempts.underWayAt(dir, digest),
    revealed: async (attempts, reveal) => (await join()).attempts.revealed(attempts, reveal),
    giveUp: async (id) => (await join()).attempts.giveUp(id),
    delete: async (id) => (await join()).attempts.delete(id),
    orphans: async () => (await join()).attempts.orphans(),
    removeOrphan: async (name) => (await join()).attempts.removeOrphan(name),
  };
}

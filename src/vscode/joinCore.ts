/**
 * Joins the adapters' ports to core. Core is loaded at its first use: dockerode and the schema library cost more
 * time than the rest of the activation together.
 */
import { errorMessage, UserError } from '#core/base/errors.ts';
import type { Log } from '#core/base/log.ts';
import type { EngineChoice } from '#core/container/connect.ts';
import { type ContainerEngine, EngineError } from '#core/container/engine.ts';
import type { EngineStatus } from './engine/engineStatus.ts';
import { askForHostVariables } from './grading/askForHostVariables.ts';
import type { Grader, GradeStore, KeptContainers, TaskReader } from './ports.ts';
import { dockerHostSetting } from './settings/dockerHost.ts';
import { hardenedVerifierSetting } from './settings/hardenedVerifier.ts';
import { verifierTimeoutSetting } from './settings/verifierTimeoutSeconds.ts';

export const taskReader: TaskReader = {
  async discover(dir) {
    const { discoverTasks } = await import('#core/task/discover.ts');
    return discoverTasks(dir);
  },
  async find(root, signal) {
    const { findTasks } = await import('#core/task/discover.ts');
    return findTasks(root, { signal });
  },
  async readSpec(task) {
    const { readSpec } = await import('#core/task/spec.ts');
    return readSpec(task);
  },
};

export function gradeStore(storeDir: () => string): GradeStore {
  return {
    async list(task) {
      const { listGrades } = await import('#core/grading/store.ts');
      return listGrades(storeDir(), task);
    },
    async read(dir) {
      const { readGrade } = await import('#core/grading/store.ts');
      return readGrade(dir);
    },
  };
}

/**
 * Connects to the engine that the setting, the environment, the docker command's context or a usual place names. The first time in a window,
 * grade containers that a dead window or command left behind are removed, in the background.
 */
export function createConnect(log: Log): () => Promise<ContainerEngine> {
  let swept = false;
  return async () => {
    const { connectEngine: connect } = await import('#core/container/connect.ts');
    const engine = await connect({ dockerHost: dockerHostSetting.get() || undefined, env: process.env });
    if (!swept) void sweep(engine, log);
    swept = true;
    return engine;
  };
}

/** Asks every place where an engine may answer. */
export async function listEngines(): Promise<readonly EngineChoice[]> {
  const { listEngines: list } = await import('#core/container/connect.ts');
  return list({ dockerHost: dockerHostSetting.get() || undefined, env: process.env });
}

async function sweep(engine: ContainerEngine, log: Log): Promise<void> {
  try {
    const { reapContainers } = await import('#core/container/reaper.ts');
    const removed = await reapContainers(engine, { kept: false });
    if (removed.length > 0) log.info(`Removed what an earlier run left: ${removed.join(', ')}`);
  } catch (error) {
    log.warn(`What earlier runs left could not be removed: ${errorMessage(error)}`);
  }
}

/** The engine keeps them; a failure of it comes as a `UserError`. */
export function createKept(status: EngineStatus<ContainerEngine>): KeptContainers {
  const ask = async <T>(
    work: (core: typeof import('#core/grading/keptContainers.ts'), engine: ContainerEngine) => Promise<T>,
  ): Promise<T> => {
    try {
      return await work(await import('#core/grading/keptContainers.ts'), await status.connect());
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      throw new UserError(error.message, { nextStep: 'Check the container engine.', cause: error });
    }
  };
  return {
    list: () => ask(async (core, engine) => (await core.listKept(engine)).map(({ gradeDir }) => gradeDir)),
    open: (gradeDir) => ask((core, engine) => core.openKept(engine, gradeDir)),
    remove: (gradeDir) => ask((core, engine) => core.removeKept(engine, gradeDir)),
  };
}

export interface GraderDeps {
  readonly engine: EngineStatus<ContainerEngine>;
  readonly storeDir: () => string;
  readonly log: Log;
}

/** Grades with a connection of its own, closed at the end. */
export function createGrader({ engine: status, storeDir, log }: GraderDeps): Grader {
  return async function* grade(task, source, signal, keep = false) {
    const { gradeTask } = await import('#core/grading/grade.ts');
    const timeoutSec = verifierTimeoutSetting.get();
    const options = {
      storeDir: storeDir(),
      live: true,
      keep,
      allowHostEnv: (names: readonly string[]) => askForHostVariables(task, names),
      ...(timeoutSec > 0 ? { timeoutSec } : {}),
      ...(hardenedVerifierSetting.get() ? { hardened: 'where declared' as const } : {}),
    };
    let engine: ContainerEngine | undefined;
    const connect = async (): Promise<ContainerEngine> => {
      engine = await status.connect();
      return engine;
    };
    try {
      yield* gradeTask(task, source, options, { connect, log, hostEnv: process.env }, signal);
    } finally {
      engine?.close();
    }
  };
}

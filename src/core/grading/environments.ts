import { UserError } from '#core/base/errors.ts';
import { resolveEnv, wantedHostVariables } from '#core/task/env.ts';
import type { GradePlan } from './plan.ts';
import { NotGradedError } from './reasons.ts';

/** Environment tables with their host variables filled in. */
export interface Environments {
  /** Of the verifier's container. */
  readonly container: Readonly<Record<string, string>>;
  /** Of the builder's container. */
  readonly agent: Readonly<Record<string, string>>;
  readonly verifier: Readonly<Record<string, string>>;
  readonly solution: Readonly<Record<string, string>>;
}

/**
 * Fills in `${VAR}` of the host, with consent: a task can name any variable (harbor.md §2.10).
 * Errors: `NotGradedError` when a variable is missing or not allowed.
 */
export async function resolveEnvironments(
  plan: GradePlan,
  hostEnv: NodeJS.ProcessEnv,
  allow: ((names: readonly string[]) => Promise<boolean>) | undefined,
): Promise<Environments> {
  const { config, verifierMode, verifierEnvironment } = plan.task;
  const container = verifierMode === 'separate' ? verifierEnvironment.env : config.environment.env;
  const agent = builds(plan) ? config.environment.env : {};
  const solution = plan.source.kind === 'solution' ? config.solution.env : {};
  const tables = [container, agent, config.verifier.env, solution];
  const wanted = [...new Set(tables.flatMap(wantedHostVariables).map(({ name }) => name))].filter(
    (name) => hostEnv[name] !== undefined,
  );
  if (wanted.length > 0 && !(await allow?.(wanted))) {
    throw new NotGradedError(
      'host-env-denied',
      `The task wants ${wanted.join(', ')} of this machine's environment.`,
    );
  }
  try {
    return {
      container: resolveEnv(container, hostEnv),
      agent: resolveEnv(agent, hostEnv),
      verifier: resolveEnv(config.verifier.env, hostEnv),
      solution: resolveEnv(solution, hostEnv),
    };
  } catch (error) {
    if (error instanceof UserError)
      throw new NotGradedError('verifier-env-missing', error.message, {
        cause: error,
        ...(error.nextStep ? { nextStep: error.nextStep } : {}),
      });
    throw error;
  }
}

/** True when something runs in a container of the builder's kind before the grade. */
function builds({ source, task }: GradePlan): boolean {
  return source.kind === 'solution' || task.config.verifier.collect.length > 0;
}

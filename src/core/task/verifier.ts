import type { EnvironmentConfig, NetworkMode, StepConfig, TaskConfig, VerifierMode } from './types.ts';

/** Which verifier a task asks for, and where it runs (harbor.md §4.1). */

export interface ResolvedVerifier {
  readonly mode: VerifierMode;
  /** The separate verifier's own environment, else a copy of `[environment]`. */
  readonly environment: EnvironmentConfig;
  /** The network while the verifier runs: `[verifier].network_mode`, else its environment's (harbor.md §3.5). */
  readonly network: NetworkMode;
}

/** Step explicit > step environment > task explicit > task environment > shared. */
export function resolveVerifier(config: TaskConfig, step?: StepConfig): ResolvedVerifier {
  const mode = (step && explicitMode(step)) ?? explicitMode(config) ?? 'shared';
  const own = mode === 'separate' ? (step?.verifier.environment ?? config.verifier.environment) : null;
  const environment = own ?? structuredClone(config.environment);
  const network = step?.verifier.network_mode ?? config.verifier.network_mode ?? environment.network_mode;
  return { mode, environment, network };
}

function explicitMode({ verifier }: Pick<TaskConfig, 'verifier'>): VerifierMode | null {
  return verifier.environment_mode ?? (verifier.environment === null ? null : 'separate');
}

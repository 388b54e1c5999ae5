/**
 * A task as the rest of the product sees it. The shapes below `TaskConfig` carry Harbor's own key names
 * (harbor.md §2), so that `tasks --json` prints `config` exactly as Harbor's model dumps it.
 */

/** One thing that is wrong or odd about a task folder, with its place where it has one. */
export interface TaskProblem {
  /** Stable, kebab-case: `toml-syntax`, `invalid-value`, `missing-file`, `unsupported-multi-step`, … */
  readonly code: string;
  /** `error`: Harbor rejects it or we cannot grade it; `warning`: it works, but not as its author may think. */
  readonly severity: 'error' | 'warning';
  /** One sentence that names the file, the field and the next step. */
  readonly message: string;
  /** Relative to the task folder, with forward slashes. */
  readonly file?: string;
  /** 1-based. */
  readonly line?: number;
  /** 1-based. */
  readonly column?: number;
}

export type NetworkMode = 'public' | 'no-network' | 'allowlist';

/** `[environment]` and `[verifier.environment]` (harbor.md §2.6). */
export interface EnvironmentConfig {
  readonly network_mode: NetworkMode;
  readonly allowed_hosts: readonly string[] | null;
  /** Seconds, for build and start together. */
  readonly build_timeout_sec: number;
  readonly docker_image: string | null;
  readonly os: 'linux' | 'windows';
  readonly cpus: number | null;
  /** MiB. */
  readonly memory_mb: number | null;
  /** MiB; not enforced by Harbor on Docker. */
  readonly storage_mb: number | null;
  readonly gpus: number | null;
  readonly gpu_types: readonly string[] | null;
  readonly tpu: { readonly type: string; readonly topology: string } | null;
  readonly mcp_servers: readonly McpServerConfig[];
  readonly env: Readonly<Record<string, string>>;
  readonly skills_dir: string | null;
  readonly healthcheck: HealthcheckConfig | null;
  readonly workdir: string | null;
}

export interface McpServerConfig {
  readonly name: string;
  readonly transport: 'sse' | 'stdio' | 'streamable-http';
  readonly url: string | null;
  readonly command: string | null;
  readonly args: readonly string[];
}

export interface HealthcheckConfig {
  readonly command: string;
  readonly interval_sec: number;
  readonly timeout_sec: number;
  readonly start_period_sec: number;
  readonly start_interval_sec: number;
  readonly retries: number;
}

/** `[agent]` (harbor.md §2.3). */
export interface AgentConfig {
  readonly network_mode: NetworkMode | null;
  readonly allowed_hosts: readonly string[] | null;
  readonly timeout_sec: number | null;
  readonly user: string | number | null;
}

export interface CollectConfig {
  readonly command: string;
  readonly service: string;
  readonly timeout_sec: number;
  readonly user: string | number | null;
}

/** `[verifier]` (harbor.md §2.4). */
export interface VerifierConfig {
  readonly network_mode: NetworkMode | null;
  readonly allowed_hosts: readonly string[] | null;
  readonly timeout_sec: number;
  readonly env: Readonly<Record<string, string>>;
  readonly user: string | number | null;
  readonly environment_mode: 'shared' | 'separate' | null;
  readonly environment: EnvironmentConfig | null;
  readonly collect: readonly CollectConfig[];
}

/** The table form of an artifact (harbor.md §2.7). */
export interface ArtifactConfig {
  readonly source: string;
  readonly destination: string | null;
  readonly exclude: readonly string[];
  readonly service: string | null;
}

export interface StepConfig {
  readonly name: string;
  readonly agent: AgentConfig;
  readonly verifier: VerifierConfig;
  readonly min_reward: number | Readonly<Record<string, number>> | null;
  readonly healthcheck: HealthcheckConfig | null;
  readonly artifacts: readonly (string | ArtifactConfig)[];
}

/** task.toml as Harbor 0.22's model holds it, defaults filled in (harbor.md §2). */
export interface TaskConfig {
  readonly schema_version: string;
  readonly task: {
    readonly name: string;
    readonly version: string | null;
    readonly description: string;
    readonly authors: readonly { readonly name: string; readonly email: string | null }[];
    readonly keywords: readonly string[];
  } | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly verifier: VerifierConfig;
  readonly agent: AgentConfig;
  readonly environment: EnvironmentConfig;
  readonly solution: { readonly env: Readonly<Record<string, string>> };
  readonly source: string | null;
  readonly multi_step_reward_strategy: 'mean' | 'final' | null;
  readonly steps: readonly StepConfig[] | null;
  readonly artifacts: readonly (string | ArtifactConfig)[];
}

export type VerifierMode = 'shared' | 'separate';

/** A task whose task.toml Harbor's model accepts. */
export interface Task {
  /** Absolute path of the folder. */
  readonly dir: string;
  /** `[task].name`, else the folder's name (harbor.md §8.1). */
  readonly name: string;
  readonly config: TaskConfig;
  /** As Harbor resolves it (harbor.md §4.1). */
  readonly verifierMode: VerifierMode;
  /** The environment that the verifier runs in: its own, else a copy of `[environment]` (harbor.md §4.1). */
  readonly verifierEnvironment: EnvironmentConfig;
  /** `[verifier].test_case_count`, which Harbor's model drops (harbor.md §10); undefined when absent. */
  readonly testCaseCount: number | undefined;
  /** Dotted paths of keys that Harbor ignores, e.g. `verifier.test_case_count`. */
  readonly unknownKeys: readonly string[];
}

/** One folder of a corpus: a task, or something that looks like one with the reasons why it is not. */
export interface TaskEntry {
  /** Absolute path of the folder. */
  readonly path: string;
  readonly name: string;
  /** Harbor's model accepts task.toml. */
  readonly valid: boolean;
  /** We can grade it here. */
  readonly gradable: boolean;
  readonly problems: readonly TaskProblem[];
  /** Present when `valid`. */
  readonly task?: Task;
}

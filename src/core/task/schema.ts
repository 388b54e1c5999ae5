import { z } from 'zod';
import { artifactOverlaps, checkSource, conventionSource } from './artifacts.ts';
import {
  dict,
  float,
  isTable,
  type Lax,
  list,
  model,
  nonEmpty,
  nullable,
  oneOf,
  optional,
  type Rejection,
  reject,
  required,
  run,
  str,
  strOrInt,
  valueError,
} from './lax.ts';
import { posixParts, pyRepr, pyStrip } from './python.ts';
import { allowedHosts, checkNetwork, environment, healthcheck, networkMode } from './schema-environment.ts';
import type { ArtifactConfig, TaskConfig } from './types.ts';

/** The whole of task.toml as Harbor 0.22's model holds it (harbor.md §2). Keys stand in the model's order. */

const SERVICE = /^[a-zA-Z0-9][a-zA-Z0-9_.-]*$/;
const PACKAGE = /^[a-zA-Z0-9][a-zA-Z0-9._-]*\/[a-zA-Z0-9][a-zA-Z0-9._-]*\n?$/;

/** `str` with one more rule, which returns the value to keep or why not. */
function text<T>(rule: (value: string) => { readonly value: T } | Rejection): Lax<T> {
  return z.unknown().transform((v, context): T => {
    const value = run(str, v, context);
    if (context.issues.length > 0) return z.NEVER;
    const result = rule(value);
    return 'value' in result ? result.value : reject(context, result);
  });
}

const service = text((value) => {
  const name = pyStrip(value);
  if (SERVICE.test(name)) return { value: name };
  return valueError(
    `Invalid Docker Compose service name: ${pyRepr(name)}. Service names must start with an alphanumeric character and contain only alphanumeric characters, hyphens, underscores, and dots.`,
  );
});

const source = text((value) => {
  const problem = checkSource(value);
  return problem === undefined ? { value } : valueError(problem);
});

/** Host-relative placement (harbor.md §2.7); `""` means none. */
const destination = text<string | null>((value) => {
  if (value === '') return { value: null };
  const got = `got: ${pyRepr(value)}`;
  if (value.includes('\\')) {
    return valueError(`Artifact destination must use forward slashes as path separators, ${got}`);
  }
  if (value.startsWith('/')) return valueError(`Artifact destination must be a relative path, ${got}`);
  const parts = posixParts(value);
  if (parts.length === 0) return valueError(`Artifact destination must name a file or directory, ${got}`);
  if (parts.includes('..'))
    return valueError(`Artifact destination must not contain '..' components, ${got}`);
  if (value.replace(/\/+$/, '') !== 'manifest.json') return { value };
  return valueError("Artifact destination 'manifest.json' is reserved for the collection manifest.");
});

export const artifactShape = {
  source: required(source),
  destination: nullable(destination),
  exclude: optional(list(str), (): string[] => []),
  service: nullable(service),
};

const artifactTable = model('ArtifactConfig', artifactShape, {
  after: ({ source: from, service: name }) => {
    if (name === null || name === 'main' || from.startsWith('/') || /^[A-Za-z]:[/\\]/.test(from))
      return undefined;
    return valueError(
      `Artifact source ${pyRepr(from)} collected from service ${pyRepr(name)} must be an absolute path.`,
    );
  },
});

const artifact: Lax<string | ArtifactConfig> = z
  .unknown()
  .transform((v, context): string | ArtifactConfig => {
    if (typeof v === 'string') return v;
    const result = artifactTable.safeParse(v);
    if (result.success) return result.data;
    run(str, v, context, ['str']);
    return run(artifactTable, v, context, ['function-after[_validate_sidecar_source(), ArtifactConfig]']);
  });

const artifacts = optional(list(artifact), (): (string | ArtifactConfig)[] => []);

const phaseShape = { network_mode: nullable(networkMode), allowed_hosts: nullable(allowedHosts) };

export const agentShape = { ...phaseShape, timeout_sec: nullable(float), user: nullable(strOrInt) };

const agent = model('AgentConfig', agentShape, { after: checkNetwork });

export const collectShape = {
  command: required(str),
  service: optional(service, () => 'main'),
  timeout_sec: optional(float, () => 60),
  user: nullable(strOrInt),
};

export const verifierShape = {
  ...phaseShape,
  timeout_sec: optional(float, () => 600),
  env: optional(dict(str), (): Record<string, string> => ({})),
  user: nullable(strOrInt),
  environment_mode: nullable(oneOf(['shared', 'separate'])),
  environment: nullable(environment),
  collect: optional(list(model('VerifierCollectConfig', collectShape)), () => []),
};

const verifier = model('VerifierConfig', verifierShape, {
  after: (value) => {
    const network = checkNetwork(value);
    if (network !== undefined) return network;
    if (value.environment_mode !== 'shared' || value.environment === null) return undefined;
    return valueError(
      "[verifier].environment_mode='shared' is incompatible with [verifier.environment]; either omit the environment or set environment_mode='separate'.",
    );
  },
});

/** `float | dict[str, float]`. */
const minReward: Lax<number | Record<string, number>> = z.unknown().transform((v, context) => {
  const number = float.safeParse(v);
  if (number.success) return number.data;
  const table = dict(float).safeParse(v);
  if (table.success) return table.data;
  run(float, v, context, ['float']);
  return run(dict(float), v, context, ['dict[str,float]']);
});

export const stepShape = {
  name: required(str),
  agent: optional(agent, () => agent.parse({})),
  verifier: optional(verifier, () => verifier.parse({})),
  min_reward: nullable(minReward),
  healthcheck: nullable(healthcheck),
  artifacts,
};

export const authorShape = { name: required(str), email: nullable(str) };

const packageName = text((value) => {
  if (PACKAGE.test(value) && !value.includes('..')) return { value };
  return valueError(
    `Package name must be in 'org/name' format with alphanumeric characters, hyphens, underscores, and dots. Cannot start with a dot or contain '..'. Got: ${value}`,
  );
});

export const packageShape = {
  name: required(packageName),
  version: nullable(nonEmpty),
  description: optional(str, () => ''),
  authors: optional(list(model('Author', authorShape)), () => []),
  keywords: optional(list(str), (): string[] => []),
};

export const solutionShape = { env: optional(dict(str), (): Record<string, string> => ({})) };

const solution = model('SolutionConfig', solutionShape);

export const taskShape = {
  schema_version: optional(str, () => '1.4'),
  task: nullable(model('PackageInfo', packageShape)),
  metadata: optional(dict<unknown>(z.unknown()), (): Record<string, unknown> => ({})),
  verifier: optional(verifier, () => verifier.parse({})),
  agent: optional(agent, () => agent.parse({})),
  environment: optional(environment, () => environment.parse({})),
  solution: optional(solution, () => solution.parse({})),
  source: nullable(str),
  multi_step_reward_strategy: nullable(oneOf(['mean', 'final'])),
  steps: nullable(list(model('StepConfig', stepShape))),
  artifacts,
};

export const taskSchema: Lax<TaskConfig> = model('TaskConfig', taskShape, {
  // `version` is read where `schema_version` is absent.
  before: (table) =>
    isTable(table) && Object.hasOwn(table, 'version')
      ? { table: { schema_version: table.version, ...table } }
      : { table },
  after: checkSources,
});

/** Texts in `artifacts` get the source rule only here, and Harbor names no place for them (`loc` is `source`). */
function checkSources(config: TaskConfig): Rejection | undefined {
  const sets: [readonly (string | ArtifactConfig)[], (string | number)[]][] = [
    [config.artifacts, ['artifacts']],
    ...(config.steps ?? []).map((step, index): [typeof step.artifacts, (string | number)[]] => [
      step.artifacts,
      ['steps', index, 'artifacts'],
    ]),
  ];
  for (const [entries, under] of sets) {
    for (const [index, entry] of entries.entries()) {
      const problem = typeof entry === 'string' ? checkSource(entry) : undefined;
      if (problem !== undefined) return { ...valueError(problem), loc: ['source'], at: [...under, index] };
    }
  }
  return undefined;
}

/** Harbor's own warnings about artifacts that overlap, for the task and for each step. */
export function overlapWarnings(config: TaskConfig): readonly string[] {
  const convention = conventionSource(config.environment.os);
  return [
    ...artifactOverlaps(config.artifacts, convention),
    ...(config.steps ?? []).flatMap((step) =>
      artifactOverlaps([...config.artifacts, ...step.artifacts], convention),
    ),
  ];
}

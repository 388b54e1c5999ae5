import { z } from 'zod';
import { normaliseHosts } from './hosts.ts';
import {
  bool,
  dict,
  float,
  int,
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
  valueError,
} from './lax.ts';
import { pyRepr, pyStrip, pythonFloat } from './python.ts';
import type { EnvironmentConfig, NetworkMode } from './types.ts';

/** `[environment]` and the pieces that it shares with `[agent]` and `[verifier]` (harbor.md §2.6). */

export const networkMode = oneOf<NetworkMode>(['no-network', 'public', 'allowlist']);

/** `allowed_hosts`: a list of texts, each normalised. */
export const allowedHosts: Lax<string[]> = z.unknown().transform((v, context): string[] => {
  const hosts = run(list(str), v, context);
  if (context.issues.length > 0) return z.NEVER;
  const normalised = normaliseHosts(hosts);
  return 'error' in normalised ? reject(context, valueError(normalised.error)) : [...normalised];
});

/** Hosts may be listed only for an allowlist; an empty list is tolerated beside an explicit mode. */
export function checkNetwork(config: {
  readonly network_mode: NetworkMode | null;
  readonly allowed_hosts: readonly string[] | null;
}): Rejection | undefined {
  const { network_mode: mode, allowed_hosts: hosts } = config;
  const wrong = mode === null ? hosts !== null : mode !== 'allowlist' && hosts !== null && hosts.length > 0;
  return wrong ? valueError("allowed_hosts is only valid when network_mode='allowlist'.") : undefined;
}

export const healthcheckShape = {
  command: required(str),
  interval_sec: optional(float, () => 5),
  timeout_sec: optional(float, () => 30),
  start_period_sec: optional(float, () => 0),
  start_interval_sec: optional(float, () => 5),
  retries: optional(int, () => 3),
};

export const healthcheck = model('HealthcheckConfig', healthcheckShape);

const topology: Lax<string> = z.unknown().transform((v, context): string => {
  const text = run(str, v, context);
  if (context.issues.length > 0) return z.NEVER;
  const clean = pyStrip(text);
  if (/^[1-9]\d*(x[1-9]\d*)+$/.test(clean)) return clean;
  const rule =
    "expected dimensions separated by 'x' with each dimension a positive integer (e.g., '2x4', '2x2x1', '4x4').";
  return reject(context, valueError(`Invalid TPU topology '${text}': ${rule}`));
});

export const tpuShape = { type: required(nonEmpty), topology: required(topology) };

export const mcpServerShape = {
  name: required(str),
  transport: optional(
    oneOf(['stdio', 'sse', 'streamable-http'], {
      kind: 'literal_error',
      before: (value) => (value === 'http' ? 'streamable-http' : value),
    }),
    () => 'sse' as const,
  ),
  url: nullable(str),
  command: nullable(str),
  args: optional(list(str), (): string[] => []),
};

const mcpServer = model('MCPServerConfig', mcpServerShape, {
  after: ({ transport, url, command }) => {
    if (transport !== 'stdio' && !url) return valueError(`'url' is required for transport '${transport}'`);
    if (transport === 'stdio' && !command) return valueError("'command' is required for transport 'stdio'");
    return undefined;
  },
});

const os = oneOf(['linux', 'windows'], {
  before: (value) => (typeof value === 'string' ? value.toLowerCase() : value),
});

export const environmentShape = {
  network_mode: optional(networkMode, (): NetworkMode => 'public'),
  allowed_hosts: nullable(allowedHosts),
  build_timeout_sec: optional(float, () => 600),
  docker_image: nullable(str),
  os: optional(os, () => 'linux' as const),
  cpus: nullable(int),
  memory_mb: nullable(int),
  storage_mb: nullable(int),
  gpus: nullable(int),
  gpu_types: nullable(list(str)),
  tpu: nullable(model('TpuSpec', tpuShape)),
  mcp_servers: optional(list(mcpServer), () => []),
  env: optional(dict(str), (): Record<string, string> => ({})),
  skills_dir: nullable(str),
  healthcheck: nullable(healthcheck),
  workdir: nullable(str),
};

const inner = model(
  'EnvironmentConfig',
  { ...environmentShape, allow_internet: nullable(bool) },
  { before: migrateSizes, after: checkNetwork },
);

/**
 * The whole table. `allow_internet` decides the network only where neither `network_mode` nor `allowed_hosts` is
 * written, and is then dropped (harbor.md §2.6, "Deprecated spellings").
 */
export const environment: Lax<EnvironmentConfig> = z.unknown().transform((v, context): EnvironmentConfig => {
  const { allow_internet: allow, ...config } = run(inner, v, context) ?? {};
  if (context.issues.length > 0) return z.NEVER;
  const written = isTable(v) && Object.hasOwn(v, 'network_mode');
  if (allow === null || written || config.allowed_hosts !== null) return config;
  return { ...config, network_mode: allow ? 'public' : 'no-network' };
});

/** `memory = "2G"` -> `memory_mb = 2048`; a value that is not text is dropped without a word, as Harbor does. */
function migrateSizes(
  table: Readonly<Record<string, unknown>>,
): { readonly table: Readonly<Record<string, unknown>> } | Rejection {
  const out: Record<string, unknown> = { ...table };
  for (const key of ['memory', 'storage']) {
    if (!Object.hasOwn(table, key)) continue;
    const text = table[key];
    if (typeof text !== 'string') continue;
    const mb = sizeInMb(text);
    if (typeof mb !== 'number') return valueError(mb.error);
    const field = `${key}_mb`;
    if (Object.hasOwn(table, field)) {
      const other = table[field];
      if (Number(other) !== mb || typeof other === 'string') {
        return valueError(
          `Conflicting '${key}' and '${field}' values: ${key}=${pyRepr(text)} (${mb} MB) != ${field}=${reprValue(other)}.`,
        );
      }
    }
    out[field] = mb;
  }
  return { table: out };
}

function reprValue(value: unknown): string {
  if (typeof value === 'string') return pyRepr(value);
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (Array.isArray(value)) return `[${value.map(reprValue).join(', ')}]`;
  if (!isTable(value)) return String(value);
  return `{${Object.entries(value)
    .map(([key, item]) => `${pyRepr(key)}: ${reprValue(item)}`)
    .join(', ')}}`;
}

/** MiB, cut to whole ones. */
function sizeInMb(text: string): number | { readonly error: string } {
  const size = pyStrip(text).toUpperCase();
  const factor = { G: 1024, M: 1, K: 1 / 1024 }[size.slice(-1)];
  if (factor === undefined) {
    return { error: `Invalid size format: ${size}. Expected format like '1G', '512M', etc.` };
  }
  const number = pythonFloat(size.slice(0, -1));
  if (number === undefined)
    return { error: `could not convert string to float: ${pyRepr(size.slice(0, -1))}` };
  if (Number.isNaN(number)) return { error: 'cannot convert float NaN to integer' };
  if (!Number.isFinite(number)) return { error: 'cannot convert float infinity to integer' };
  return Math.trunc(number * factor);
}

import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { parseTaskToml } from '#core/task/manifest.ts';
import type { TaskConfig } from '#core/task/types.ts';

const repository = new URL('../../../', import.meta.url);

/** A file or folder of `test/fixtures/task`. */
export function fixture(name: string): string {
  return fileURLToPath(new URL(`test/fixtures/task/${name}`, repository));
}

/** A file or folder beside the repository, which a clone elsewhere does not have. */
export function shared(name: string): string {
  return fileURLToPath(new URL(`../shared/${name}`, repository));
}

export function readJson<T>(file: string): T {
  return JSON.parse(readFileSync(file, 'utf8')) as T;
}

/** False, with a line on the terminal, when a shared folder is absent. */
export function hasShared(...names: string[]): boolean {
  const absent = names.filter((name) => !existsSync(shared(name)));
  if (absent.length > 0) process.stdout.write(`skipped: no ../shared/${absent.join(', ../shared/')} here\n`);
  return absent.length === 0;
}

/** One answer of the real Harbor. */
export interface HarborAnswer {
  readonly ok: boolean;
  readonly exception?: string;
  readonly errors?: readonly { loc: string[]; type: string; msg: string }[];
  readonly config?: unknown;
  readonly verifier_mode?: string;
  readonly verifier_environment?: unknown;
  readonly is_valid_dir?: boolean;
  readonly step_verifier_modes?: unknown;
  readonly warnings?: readonly string[];
}

type Fields = Readonly<Record<string, unknown>>;
type Inner = Readonly<Record<string, (value: never) => unknown>>;

const base = parse('');
const step = parse('[[steps]]\nname = "x"').steps?.[0];

function parse(text: string): TaskConfig {
  const { config } = parseTaskToml(text);
  if (config === undefined) throw new Error(`no config of ${text}`);
  return config;
}

/** JSON as `tasks --json` prints it. */
export function asJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

/** pydantic's `exclude_defaults`. */
export function withoutDefaults(config: TaskConfig): unknown {
  return asJson(strip(config as unknown as Fields, base as unknown as Fields, taskInner));
}

export function environmentWithoutDefaults(environment: TaskConfig['environment']): unknown {
  return asJson(environmentOf(environment as unknown as Fields));
}

function strip(value: Fields, defaults: Fields, inner: Inner = {}): Fields {
  const out: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) {
    if (isDeepStrictEqual(item, defaults[key])) continue;
    out[key] = item === null ? null : (inner[key]?.(item as never) ?? item);
  }
  return out;
}

const each =
  (one: (value: Fields) => unknown) =>
  (values: readonly unknown[]): unknown =>
    values.map((value) => (typeof value === 'object' ? one(value as Fields) : value));
const healthcheck = (value: Fields): Fields =>
  strip(value, { interval_sec: 5, timeout_sec: 30, start_period_sec: 0, start_interval_sec: 5, retries: 3 });
const environmentOf = (value: Fields): Fields =>
  strip(value, base.environment as unknown as Fields, {
    healthcheck,
    mcp_servers: each((server) => strip(server, { transport: 'sse', url: null, command: null, args: [] })),
  });
const verifier = (value: Fields): Fields =>
  strip(value, base.verifier as unknown as Fields, {
    environment: environmentOf,
    collect: each((hook) => strip(hook, { service: 'main', timeout_sec: 60, user: null })),
  });
const agent = (value: Fields): Fields => strip(value, base.agent as unknown as Fields);
const artifacts = each((entry) => strip(entry, { destination: null, exclude: [], service: null }));
const taskInner: Inner = {
  task: (value: Fields) =>
    strip(
      value,
      { version: null, description: '', authors: [], keywords: [] },
      { authors: each((author) => strip(author, { email: null })) },
    ),
  verifier,
  agent,
  environment: environmentOf,
  artifacts,
  steps: each((value) =>
    strip(
      value,
      { ...(step as unknown as Fields), name: undefined },
      { agent, verifier, healthcheck, artifacts },
    ),
  ),
};

import { isTable } from './lax.ts';

/** Deprecated spellings that Harbor itself warns about (harbor.md §2.6), in the order of its warnings. */

export interface Deprecation {
  readonly path: readonly (string | number)[];
  /** Harbor's text. */
  readonly harbor: string;
  /** Ours, with the next step. */
  readonly message: string;
}

/** Walks every table that Harbor reads as an environment. */
export function deprecations(table: Readonly<Record<string, unknown>>): readonly Deprecation[] {
  const steps = Array.isArray(table.steps) ? table.steps : [];
  return [
    ...ofVerifier(table.verifier, ['verifier']),
    ...ofEnvironment(table.environment, ['environment']),
    ...steps.flatMap((step: unknown, index) =>
      isTable(step) ? ofVerifier(step.verifier, ['steps', index, 'verifier']) : [],
    ),
  ];
}

function ofVerifier(verifier: unknown, path: readonly (string | number)[]): readonly Deprecation[] {
  return isTable(verifier) ? ofEnvironment(verifier.environment, [...path, 'environment']) : [];
}

function ofEnvironment(environment: unknown, under: readonly (string | number)[]): readonly Deprecation[] {
  if (!isTable(environment)) return [];
  const out: Deprecation[] = [];
  if (Object.hasOwn(environment, 'allow_internet')) {
    const mode = environment.allow_internet === false ? 'no-network' : 'public';
    out.push({
      path: [...under, 'allow_internet'],
      harbor: "The 'allow_internet' field is deprecated. Use [environment].network_mode instead.",
      message: `allow_internet is deprecated: write network_mode = "${mode}" instead.`,
    });
  }
  for (const key of ['memory', 'storage']) {
    if (!Object.hasOwn(environment, key)) continue;
    const lost = typeof environment[key] === 'string' ? '' : ` (Harbor drops a ${key} that is not text)`;
    out.push({
      path: [...under, key],
      harbor: `The '${key}' field is deprecated. Use '${key}_mb' instead.`,
      message: `${key} is deprecated: write ${key}_mb in MiB instead${lost}.`,
    });
    // Harbor stops at the first size that it cannot read.
    if (!readable(environment, key)) break;
  }
  return out;
}

function readable(environment: Readonly<Record<string, unknown>>, key: string): boolean {
  const value = environment[key];
  return typeof value !== 'string' || /[GMK]\s*$/i.test(value);
}

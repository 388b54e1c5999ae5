import { UserError } from '#core/base/errors.ts';
import { setOwn } from './lax.ts';

/** `${VAR}` and `${VAR:-default}` in env tables (harbor.md §2.10): the whole value or nothing. */

const TEMPLATE = /^\$\{([^}:]+)(?::-([^\n]*))?\}$/;

/** One variable of the host that a table asks for; a task can read any of them, so ask the person first. */
export interface HostVariable {
  /** The key in the container. */
  readonly key: string;
  /** The host's variable. */
  readonly name: string;
  /** Taken when the host has no such variable; null: there is none. */
  readonly fallback: string | null;
}

/** The host variables that a table wants, in its order. */
export function wantedHostVariables(templates: Readonly<Record<string, string>>): readonly HostVariable[] {
  return Object.entries(templates).flatMap(([key, value]) => {
    const match = TEMPLATE.exec(value);
    return match?.[1] === undefined ? [] : [{ key, name: match[1], fallback: match[2] ?? null }];
  });
}

/** The table with the host's values; a variable that is set but empty counts as set. */
export function resolveEnv(
  templates: Readonly<Record<string, string>>,
  hostEnv: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  const out: Record<string, string> = {};
  for (const [key, value] of Object.entries(templates)) setOwn(out, key, value);
  for (const { key, name, fallback } of wantedHostVariables(templates)) {
    const value = (Object.hasOwn(hostEnv, name) ? hostEnv[name] : undefined) ?? fallback;
    if (value === null) {
      throw new UserError(`Environment variable '${name}' not found in host environment`, {
        nextStep: `Set ${name} before grading, or give ${key} a default in task.toml: "\${${name}:-…}".`,
      });
    }
    setOwn(out, key, value);
  }
  return out;
}

import { lstat, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir, hostname, userInfo } from 'node:os';
import path from 'node:path';

/** Names of accounts and machines that tell nothing of anybody. */
const common =
  /^(?:root|admin|user|users|home|node|ubuntu|debian|runner|docker|vscode|coder|dev|test|localhost|app)$/i;
/** Of a file that is looked through. */
const maxBytes = 128 * 1024 ** 2;
/** Shorter ones are replaced only where they stand alone. */
const shortChars = 6;

/** Their values are words of a format, hashes and times: a builder who is called "agent" changes none of them. */
const formatKeys: ReadonlySet<string> = new Set([
  ...['schema_version', 'source', 'type', 'tool_call_id', 'source_call_id', 'function_name', 'timestamp'],
  ...[
    'actor',
    'event',
    'since',
    'at',
    'ended_at',
    'verdict',
    'rule',
    'status',
    'session_id',
    'trajectory_id',
  ],
  ...['attempt', 'task_digest', 'spec_sha256', 'image_id', 'submission_sha256', 'sha256', 'mode', 'state'],
  ...[
    'created_at',
    'environment_ready_at',
    'spec_opened_at',
    'what',
    'started_at',
    'tier',
    'exposure',
    'ai_policy',
    'aiPolicy',
  ],
  ...['other_device', 'otherDevice', 'network', 'outcome', 'official_verdict', 'official_reason'],
  ...['official_cause', 'damage', 'pseudonym', 'builder'],
]);

/** What identifies a person or this machine, with what stands in its place. */
export type Identity = ReadonlyMap<string, string>;

/** Of this machine and its user; `paths`: further host paths that an export may hold. */
export function hostIdentity(paths: readonly string[]): Identity {
  const identity = new Map<string, string>();
  const add = (value: string, instead: string): void => {
    if (value.length > 2 && !common.test(path.basename(value))) identity.set(value, instead);
  };
  add(hostname(), '[host]');
  add(hostname().split('.')[0] ?? '', '[host]');
  add(userName(), '[user]');
  // "/tasks" is also the end of other paths.
  const deep = paths.map((place) => path.resolve(place)).filter((place) => place.split(path.sep).length > 2);
  for (const place of deep) add(place, '[path]');
  add(homedir(), '[home]');
  return identity;
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // A user without an entry in the machine's list has no name.
    return '';
  }
}

/**
 * Replaces what identifies somebody, in whatever case and however JSON writes it. Numbers and names of one or two letters
 * are in half of all texts: they are left.
 */
export class Anonymiser {
  readonly #rules: readonly { readonly pattern: RegExp; readonly instead: string }[];
  readonly #byteRules: readonly { readonly pattern: RegExp; readonly instead: string }[];

  constructor(identity: Identity) {
    // The longest first: a path before the name that is in it.
    const all = [...identity]
      .filter(([value]) => value.length > 2 && /\p{L}/u.test(value))
      .toSorted(([a], [b]) => b.length - a.length);
    const rules = (forms: (value: string) => readonly string[]) =>
      all.flatMap(([value, instead]) =>
        [...new Set(forms(value))].map((form) => ({ pattern: patternOf(form), instead })),
      );
    this.#rules = rules((value) => [value]);
    this.#byteRules = rules((value) => jsonForms(value).map((form) => Buffer.from(form).toString('latin1')));
  }

  text(text: string): string {
    return this.#rules.reduce((now, { pattern, instead }) => now.replace(pattern, () => instead), text);
  }

  /** Every string in a JSON value but those of a format's own words. */
  value<T>(value: T): T {
    return mapStrings(value, (text, key) => (formatKeys.has(key) ? text : this.text(text)));
  }

  /** The files of a folder, whatever they are, and their names; those that are too large to look through are removed. */
  async folder(dir: string, onRemoved: (file: string) => void): Promise<void> {
    for (const entry of await readdir(dir, { withFileTypes: true })) {
      const file = path.join(dir, entry.name);
      if (entry.isDirectory()) await this.folder(file, onRemoved);
      else if ((await lstat(file)).size > maxBytes) {
        await rm(file);
        onRemoved(file);
        continue;
      } else if (entry.isFile()) {
        const before = (await readFile(file)).toString('latin1');
        const after = this.#byteRules.reduce(
          (now, { pattern, instead }) => now.replace(pattern, () => instead),
          before,
        );
        if (after !== before) await writeFile(file, after, 'latin1');
      }
      const name = this.text(entry.name);
      if (name !== entry.name) await rename(file, path.join(dir, name));
    }
  }
}

/** Every string in a JSON value; `key`: that it is the value of, or in a list of. */
export function mapStrings<T>(value: T, change: (text: string, key: string) => string): T {
  const map = (item: unknown, key: string): unknown => {
    if (typeof item === 'string') return change(item, key);
    if (Array.isArray(item)) return item.map((one) => map(one, key));
    if (typeof item !== 'object' || item === null) return item;
    return Object.fromEntries(Object.entries(item).map(([name, one]) => [name, map(one, name)]));
  };
  return map(value, '') as T;
}

/** A name begins behind what is no letter or digit, behind a terminal's escape, and behind one of JSON. */
const beginning = String.raw`(?<=^|[^a-z0-9]|\[[\d;?]*[a-z]|\\[a-z]|\\u[0-9a-f]{4})`;

function patternOf(form: string): RegExp {
  const source = form.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
  return new RegExp(form.length < shortChars ? `${beginning}${source}(?![a-z0-9])` : source, 'gi');
}

/** As it is, as JSON has it, and as Python's JSON has it, in which all but ASCII is escaped; in any case of it. */
function jsonForms(given: string): readonly string[] {
  return [given, given.toLowerCase(), given.toUpperCase()].flatMap(escapedForms);
}

function escapedForms(value: string): readonly string[] {
  const json = JSON.stringify(value).slice(1, -1);
  const ascii = json.replace(
    /[\u0080-\uffff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return [value, json, ascii];
}

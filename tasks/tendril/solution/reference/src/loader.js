/** Loads a grammar with all the files that it uses, and resolves the names in them. */

import { dirname, normalize, resolve } from 'node:path';
import { ErrorList, TendrilError, usageError } from './errors.js';
import { parseGrammar } from './parser.js';
import { resolveFile } from './resolver.js';
import { readSource } from './source.js';

/** @typedef {import('./ast.js').GrammarFile} GrammarFile */

export class Grammar {
  constructor() {
    /** In the order in which they were first met. @type {GrammarFile[]} */
    this.files = [];
  }

  get main() {
    return this.files[0];
  }

  /**
   * The rule of that name, for `-r` and as start rule (without a name: the first one).
   * @param {string | undefined} name
   */
  startRule(name) {
    const rule = name === undefined ? this.main.rules.values().next().value : this.find(name);
    if (rule === undefined) throw usageError(name === undefined ? 'the grammar has no rule' : `no rule "${name}"`);
    if (rule.parameters.length > 0) throw usageError(`the rule "${rule.name}" has parameters`);
    return rule;
  }

  /** @param {string} name */
  find(name) {
    const [first, second] = name.split('.');
    return second === undefined ? this.main.rules.get(first) : this.main.aliases.get(first)?.rules.get(second);
  }
}

/**
 * @param {string} path
 * @returns {Grammar}
 */
export function loadGrammar(path) {
  const grammar = new Grammar();
  /** @type {Map<string, GrammarFile>} */
  const loaded = new Map();
  /** @type {Map<GrammarFile, import('./errors.js').TendrilError[]>} */
  const errors = new Map();

  /** @param {string} label @returns {GrammarFile} */
  const load = (label) => {
    const key = resolve(label);
    const known = loaded.get(key);
    if (known !== undefined) return known;
    const file = parseGrammar(readSource(label, label));
    loaded.set(key, file);
    grammar.files.push(file);
    errors.set(file, []);
    for (const statement of file.statements) {
      if (statement.type !== 'use') continue;
      const used = normalize(statement.path.startsWith('/') ? statement.path : `${dirname(label)}/${statement.path}`);
      try {
        file.aliases.set(statement.alias, load(used));
      } catch (error) {
        if (error instanceof TendrilError) throw error;
        const message = `cannot read ${used}: ${/** @type {Error} */ (error).message}`;
        errors.get(file)?.push(file.source.error('name', statement.pathAt, message));
      }
    }
    return file;
  };

  readable(path, () => load(path));
  for (const file of grammar.files) declareRules(file);
  const all = grammar.files.flatMap((file) => resolveFile(file, errors.get(file) ?? []));
  if (all.length > 0) throw new ErrorList(all);
  return grammar;
}

/**
 * One file alone, for the formatter.
 * @param {string} path
 */
export function loadSingleFile(path) {
  return readable(path, () => parseGrammar(readSource(path, path)));
}

/**
 * Turns a failure to read the file of the command line into a usage error.
 * @template T
 * @param {string} path
 * @param {() => T} load
 * @returns {T}
 */
export function readable(path, load) {
  try {
    return load();
  } catch (error) {
    if (error instanceof TendrilError) throw error;
    throw usageError(`cannot read ${path}: ${/** @type {Error} */ (error).message}`);
  }
}

let lastId = 0;

/** @param {GrammarFile} file */
function declareRules(file) {
  for (const statement of file.statements) {
    if (statement.type === 'skip') file.skip ??= statement;
    if (statement.type === 'word') file.word ??= statement;
    if (statement.type !== 'rule') continue;
    statement.file = file;
    statement.id = ++lastId;
    if (!file.rules.has(statement.name)) file.rules.set(statement.name, statement);
  }
}

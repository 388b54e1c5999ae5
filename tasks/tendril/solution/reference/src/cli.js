/** The command line program. */

import { readFileSync, writeFileSync, writeSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Analysis } from './analysis.js';
import { describeRules } from './describe.js';
import { Machine } from './engine.js';
import { ErrorList, EXIT_STATUS, TendrilError, TESTS_FAILED, usageError } from './errors.js';
import { formatGrammar } from './formatter.js';
import { loadGrammar, loadSingleFile, readable } from './loader.js';
import { Shaper } from './shape.js';
import { readSource, Source } from './source.js';
import { runTests } from './tester.js';
import { outline } from './tree.js';
import { toJson } from './values.js';
import { findWarnings } from './warnings.js';

const VERSION = '1.0.0';

const INPUT_OPTIONS = /** @type {const} */ ({
  text: { type: 'string', short: 't' },
  rule: { type: 'string', short: 'r' },
  output: { type: 'string', short: 'o' },
});

/** @typedef {{output: string, status?: number}} Outcome */

/** @type {Record<string, {options: any, inputs: number, run: (args: string[], options: any) => Outcome}>} */
const COMMANDS = {
  parse: {
    options: { ...INPUT_OPTIONS, compact: { type: 'boolean' }, lines: { type: 'boolean' } },
    inputs: 1,
    run: parse,
  },
  tree: { options: INPUT_OPTIONS, inputs: 1, run: tree },
  check: { options: { strict: { type: 'boolean' } }, inputs: Number.POSITIVE_INFINITY, run: check },
  format: { options: { write: { type: 'boolean', short: 'w' }, check: { type: 'boolean' } }, inputs: 0, run: format },
  rules: { options: {}, inputs: 0, run: rules },
  test: { options: {}, inputs: 0, run: test },
};

/**
 * Runs the program.
 * @param {string[]} argv
 * @returns {number} the exit status
 */
export function main(argv) {
  try {
    const { output, status = 0 } = dispatch(argv);
    writeAll(1, output);
    return status;
  } catch (error) {
    const shown = error instanceof RangeError ? usageError('the input or grammar is nested too deeply') : error;
    const errors = shown instanceof ErrorList ? shown.errors : [shown];
    if (!(errors[0] instanceof TendrilError)) throw error;
    writeAll(2, `${errors.join('\n')}\n`);
    return EXIT_STATUS[errors[0].kind];
  }
}

/** @param {string[]} argv @returns {Outcome} */
function dispatch(argv) {
  const [name, ...rest] = argv;
  if (name === '--version' && rest.length === 0) return { output: `tendril ${VERSION}\n` };
  const command = Object.hasOwn(COMMANDS, name ?? '') ? COMMANDS[name] : undefined;
  if (command === undefined) throw usageError(`one of these commands is needed: ${Object.keys(COMMANDS).join(', ')}`);
  let parsed;
  try {
    parsed = parseArgs({ args: joinValues(rest, command.options), options: command.options, allowPositionals: true });
  } catch (error) {
    throw usageError(/** @type {Error} */ (error).message.split('\n')[0]);
  }
  const { positionals, values } = parsed;
  if (positionals.length === 0) throw usageError('no grammar is given');
  if (positionals.length > 1 + command.inputs) throw usageError('too many arguments');
  return command.run(positionals, values);
}

/**
 * Joins options with their values, which may start with a dash (`-t -1`).
 * @param {string[]} args
 * @param {Record<string, {type: string, short?: string}>} options
 */
function joinValues(args, options) {
  const joined = [];
  for (let index = 0; index < args.length; index++) {
    const found = Object.entries(options).find(([name, { type, short }]) => {
      return type === 'string' && (args[index] === `--${name}` || (short !== undefined && args[index] === `-${short}`));
    });
    if (args[index] === '--') return joined.concat(args.slice(index));
    if (found === undefined || index + 1 === args.length) joined.push(args[index]);
    else joined.push(`--${found[0]}=${args[++index]}`);
  }
  return joined;
}

/**
 * A grammar without name and grammar errors.
 * @param {string} path
 */
function checkedGrammar(path) {
  const grammar = loadGrammar(path);
  const analysis = new Analysis(grammar);
  analysis.check();
  return { grammar, analysis };
}

/** @param {string | undefined} path @param {string | undefined} text */
function readInput(path, text) {
  if (text !== undefined) {
    if (path !== undefined) throw usageError('both INPUT and --text are given');
    return new Source('<text>', text);
  }
  if (path === undefined || path === '-') return readable('<stdin>', () => readSource(0, '<stdin>'));
  return readable(path, () => readSource(path, path));
}

/** @param {string[]} args @param {{text?: string, rule?: string}} options */
function prepare([grammarPath, inputPath], { text, rule }) {
  const { grammar } = checkedGrammar(grammarPath);
  return { start: grammar.startRule(rule), input: readInput(inputPath, text) };
}

/** @param {string} output @param {string | undefined} path @returns {Outcome} */
function deliver(output, path, status = 0) {
  if (path === undefined) return { output, status };
  writeFile(path, output);
  return { output: '', status };
}

/** @param {string} path @param {string} content */
function writeFile(path, content) {
  try {
    writeFileSync(path, content);
  } catch (error) {
    throw usageError(`cannot write ${path}: ${/** @type {Error} */ (error).message}`);
  }
}

/**
 * @param {string[]} args
 * @param {{text?: string, rule?: string, output?: string, compact?: boolean, lines?: boolean}} options
 */
function parse(args, options) {
  const { start, input } = prepare(args, options);
  if (options.lines) return parseLines(start, input, options.output);
  return deliver(`${toJson(parseInput(start, input), options.compact === true)}\n`, options.output);
}

/** @param {import('./ast.js').Rule} start @param {Source} input */
function parseInput(start, input) {
  return new Shaper(input).value(new Machine(input).parse(start), new Map());
}

/**
 * Parses every line on its own; errors are part of the output.
 * @param {import('./ast.js').Rule} start
 * @param {Source} input
 * @param {string | undefined} path
 */
function parseLines(start, input, path) {
  const lines = input.text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  let status = 0;
  const output = lines.map((text, index) => {
    try {
      return toJson(parseInput(start, new Source('line', text)), true);
    } catch (error) {
      if (!(error instanceof TendrilError)) throw error;
      status = EXIT_STATUS.parse;
      const at = `${index + 1}:${error.place.split(':')[2]}`;
      return toJson(new Map([['error', error.kind], ['at', at], ['message', error.message]]), true);
    }
  });
  return deliver(output.map((line) => `${line}\n`).join(''), path, status);
}

/** @param {string[]} args @param {{text?: string, rule?: string, output?: string}} options */
function tree(args, options) {
  const { start, input } = prepare(args, options);
  return deliver(outline(new Machine(input).parse(start), input), options.output);
}

/** @param {string[]} paths @param {{strict?: boolean}} options @returns {Outcome} */
function check(paths, { strict }) {
  /** @type {string[]} */
  const warnings = [];
  /** @type {TendrilError[]} */
  const errors = [];
  for (const path of paths) {
    try {
      warnings.push(...findWarnings(checkedGrammar(path).grammar).map((warning) => `${warning}\n`));
    } catch (error) {
      if (error instanceof ErrorList) errors.push(...error.errors);
      else if (error instanceof TendrilError) errors.push(error);
      else throw error;
    }
  }
  if (errors.length > 0) throw new ErrorList(errors);
  if (strict && warnings.length > 0) return { output: warnings.join(''), status: 1 };
  return { output: `${warnings.join('')}ok\n` };
}

/** @param {string[]} args @param {{write?: boolean, check?: boolean}} options @returns {Outcome} */
function format([path], { write, check: onlyCheck }) {
  if (write && onlyCheck) throw usageError('--write and --check exclude each other');
  const file = loadSingleFile(path);
  const text = formatGrammar(file);
  const isCanonical = text === readFileSync(path, 'utf8');
  if (onlyCheck) return { output: isCanonical ? 'ok\n' : '', status: isCanonical ? 0 : 1 };
  if (!write) return { output: text };
  if (!isCanonical) writeFile(path, text);
  return { output: '' };
}

/** @param {string[]} args @returns {Outcome} */
function rules([path]) {
  const { grammar, analysis } = checkedGrammar(path);
  return { output: `${toJson(describeRules(grammar, analysis), false)}\n` };
}

/** @param {string[]} args @returns {Outcome} */
function test([path]) {
  const { output, passed } = runTests(checkedGrammar(path).grammar);
  return { output, status: passed ? 0 : TESTS_FAILED };
}

/**
 * Writes everything, also to a pipe that is full for the moment.
 * @param {number} descriptor
 * @param {string} text
 */
function writeAll(descriptor, text) {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(descriptor, bytes, at);
    } catch (error) {
      const { code } = /** @type {NodeJS.ErrnoException} */ (error);
      if (code === 'EPIPE') return;
      if (code !== 'EAGAIN') throw error;
    }
  }
}

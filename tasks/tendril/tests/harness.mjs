// A harness that starts the installed program in child processes and reports in CTRF.

import { spawn } from 'node:child_process';
import {
  accessSync, closeSync, constants, mkdirSync, mkdtempSync, openSync, readSync, renameSync, rmSync, statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';

const EXPECTED_TESTS = 44;
const PROGRAM = 'tendril';
const SEARCH_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const CHILD_TIMEOUT_MS = 30_000;
const TEST_TIMEOUT_MS = 90_000;
const SUITE_TIMEOUT_MS = 400_000;
const MAX_OUTPUT_BYTES = 4 * 1024 * 1024;
const MAX_SHOWN = 4000;
const PARALLEL = 2;

const STATUS = { syntax: 1, name: 1, grammar: 1, usage: 2, parse: 3, action: 4 };

/** @type {{suite: string, name: string, body: (t: Context) => Promise<void>, file: string, line: number}[]} */
const registered = [];

/** Who the program is to run as, in a hardened grade; null where the grade does not say. */
const PRODUCT = process.env.E2E_SWE_PRODUCT_UID
  ? { uid: Number(process.env.E2E_SWE_PRODUCT_UID), gid: Number(process.env.E2E_SWE_PRODUCT_GID) }
  : null;

/** Files are handled as the program's user too, whose links could lead anywhere. */
function asProduct(action) {
  if (PRODUCT === null) return action();
  process.setegid(PRODUCT.gid);
  process.seteuid(PRODUCT.uid);
  try {
    return action();
  } finally {
    process.seteuid(0);
    process.setegid(0);
  }
}

/** Names of the suite's files and lines in a stack trace, outermost last. */
function suiteFrames(stack) {
  return Array.from(String(stack).matchAll(/\/(suite_\w+\.mjs):(\d+)/g), (found) => [found[1], Number(found[2])]);
}

/** A function that registers the tests of one suite. */
export function suite(title) {
  return (name, body) => {
    const [file, line] = suiteFrames(new Error().stack).at(-1) ?? ['harness.mjs', 1];
    registered.push({ suite: title, name, body, file, line });
  };
}

class Failure extends Error {
  constructor(message, expected, actual) {
    super(message);
    this.name = 'Failure';
    this.expected = expected;
    this.actual = actual;
  }
}

function shown(value) {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}… (${text.length} characters)` : text;
}

function findProgram() {
  for (const folder of SEARCH_PATH.split(':')) {
    const path = join(folder, PROGRAM);
    try {
      accessSync(path, constants.X_OK);
      if (statSync(path).isFile()) return path;
    } catch {
      // not here
    }
  }
  throw new Failure(`the command ${PROGRAM} is not on PATH`, `an executable ${PROGRAM} in ${SEARCH_PATH}`, 'none');
}

function readCapped(path) {
  const descriptor = openSync(path, 'r');
  try {
    const buffer = Buffer.alloc(Math.min(statSync(path).size, MAX_OUTPUT_BYTES));
    return buffer.subarray(0, readSync(descriptor, buffer, 0, buffer.length, 0));
  } finally {
    closeSync(descriptor);
  }
}

/** One test's folder, and the checks that tests are made of. */
class Context {
  constructor(root) {
    this.root = root;
    this.cwd = join(root, 'work');
    this.runs = 0;
    asProduct(() => [this.cwd, join(root, 'home')].forEach((folder) => mkdirSync(folder)));
  }

  // ---- files

  write(name, content) {
    const path = join(this.cwd, name);
    asProduct(() => {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, content);
    });
  }

  read(name) {
    try {
      return asProduct(() => readCapped(join(this.cwd, name)).toString('utf8'));
    } catch {
      return null;
    }
  }

  // ---- running

  /** Runs the program; `stdin` may be text or bytes. */
  async run(args, { stdin = '', timeout = CHILD_TIMEOUT_MS, env = {}, cwd = this.cwd } = {}) {
    const program = findProgram();
    const number = ++this.runs;
    const files = ['in', 'out', 'err'].map((name) => join(this.root, `${number}.${name}`));
    const stdio = asProduct(() => {
      writeFileSync(files[0], stdin);
      return [openSync(files[0], 'r'), openSync(files[1], 'w'), openSync(files[2], 'w')];
    });
    const command = [PROGRAM, ...args].map((part) => (/^[\w./:=-]+$/.test(part) ? part : JSON.stringify(part))).join(' ');
    const child = spawn(program, args, {
      cwd,
      stdio,
      detached: true,
      ...PRODUCT,
      env: { PATH: SEARCH_PATH, HOME: join(this.root, 'home'), TMPDIR: this.root, LANG: 'C.UTF-8', TZ: 'UTC', ...env },
    });
    let timedOut = false;
    const killGroup = () => {
      try {
        process.kill(-child.pid, 'SIGKILL');
      } catch {
        // nothing is left of it
      }
    };
    const timer = setTimeout(() => {
      timedOut = true;
      killGroup();
    }, timeout);
    const [code, signal] = await new Promise((resolve) => {
      child.on('error', (error) => resolve([null, error.message]));
      child.on('exit', (...result) => resolve(result));
    });
    clearTimeout(timer);
    killGroup();
    for (const descriptor of stdio) closeSync(descriptor);
    if (timedOut) throw new Failure(`no end in time: ${command}`, `an end within ${timeout} ms`, 'still running');
    const [out, err] = asProduct(() => files.slice(1).map((file) => readCapped(file).toString('utf8')));
    return { command, code: code ?? `signal ${signal}`, out, err };
  }

  // ---- checks

  equal(actual, expected, what) {
    if (!isDeepStrictEqual(actual, expected)) throw new Failure(what, expected, actual);
  }

  /** The run ends with this status (0 if not said) and prints exactly this. */
  async prints(expected, args, { status = 0, ...options } = {}) {
    const result = await this.run(args, options);
    if (result.code !== status) {
      throw new Failure(
        `exit status of: ${result.command}`,
        `exit status ${status}`,
        `exit status ${result.code}\n${result.err}${result.out}`,
      );
    }
    this.equal(result.out, expected, `standard output of: ${result.command}`);
    return result;
  }

  /**
   * Writes the grammar to g.tdl. Each text of `good` has the value whose compact JSON is given;
   * each of `bad`, of one line, fails: `1:COLUMN MESSAGE` for a parse error, `action COLUMN` for an action error.
   * Texts of one line are parsed together by `parse --lines`.
   */
  async values(grammar, good, bad = []) {
    this.write('g.tdl', grammar);
    const together = [];
    for (const [text, json] of good) {
      if (text.includes('\n')) await this.prints(`${json}\n`, ['parse', 'g.tdl', '--compact', '-t', text]);
      else together.push([text, json]);
    }
    for (const [text, expected] of bad) {
      const [, action, column, message] = /^(?:(action) |1:)(\d+)(?: (.*))?$/.exec(expected);
      const at = `${together.length + 1}:${column}`;
      if (action) {
        together.push([text, `{"error":"action","at":"${at}","message":`]);
      } else {
        together.push([text, JSON.stringify({ error: 'parse', at, message })]);
      }
    }
    await this.lines(together, bad.length > 0 ? 3 : 0);
  }

  /** Each line of the input has this line of output, or one that starts so if it ends in a colon. */
  async lines(pairs, status, args = ['g.tdl'], options = {}) {
    if (pairs.length === 0) return;
    const stdin = pairs.map(([text]) => `${text}\n`).join('');
    const result = await this.run(['parse', ...args, '--lines'], { stdin, ...options });
    const received = result.out.split('\n').slice(0, -1);
    const show = (lines) => lines.map((line, index) => `${pairs[index]?.[0]} => ${line}`).join('\n');
    const matches =
      result.code === status &&
      received.length === pairs.length &&
      pairs.every(([, line], index) => (line.endsWith(':') ? received[index].startsWith(line) : received[index] === line));
    if (!matches) {
      throw new Failure(
        `standard output of: ${result.command}, for lines of standard input`,
        `exit status ${status}\n${show(pairs.map(([, line]) => line))}`,
        `exit status ${result.code}\n${show(received)}\n${result.err}`,
      );
    }
  }

  /**
   * The run fails with exactly these errors: each is `PLACE: KIND error: ` and
   * perhaps the message, which is only compared if it is given.
   */
  async fails(errors, args, options = {}) {
    const expected = [errors].flat();
    const kind = /: (\w+) error: /.exec(expected[0])[1];
    const result = await this.run(args, options);
    const said = `exit status ${result.code}\n${result.err}${result.out}`;
    if (result.code !== STATUS[kind]) {
      throw new Failure(`exit status of: ${result.command}`, `exit status ${STATUS[kind]}, ${expected.join('\n')}`, said);
    }
    this.equal(result.out, '', `standard output with an error: ${result.command}`);
    const lines = result.err.split('\n').slice(0, -1);
    const matches =
      lines.length === expected.length &&
      expected.every((start, index) => (start.endsWith(': ') ? lines[index].startsWith(start) : lines[index] === start));
    if (!matches) throw new Failure(`standard error of: ${result.command}`, expected.join('\n'), result.err);
  }

  /**
   * Each grammar has errors of this kind at the places marked by «, in this order.
   * They are checked together, as g1.tdl, g2.tdl and so on; at last a file that is there
   * already, with its errors as in `fails`.
   */
  async grammarFails(kind, grammars, [last, ...lastErrors] = []) {
    const errors = [];
    const names = grammars.map((marked, number) => {
      const name = `g${number + 1}.tdl`;
      const [first, ...rest] = marked.split('«');
      let text = first;
      for (const part of rest) {
        const lines = text.split('\n');
        errors.push(`${name}:${lines.length}:${Array.from(lines.at(-1)).length + 1}: ${kind} error: `);
        text += part;
      }
      this.write(name, text);
      return name;
    });
    if (last !== undefined) names.push(last);
    await this.fails([...errors, ...lastErrors], ['check', ...names]);
  }
}

// ------------------------------------------------------------------ reporting

function entryOf(test) {
  return {
    name: test.name,
    status: 'failed',
    duration: 0,
    suite: [test.suite],
    filePath: `/tests/${test.file}`,
    line: test.line,
  };
}

function fail(entry, error) {
  const isFailure = error instanceof Failure;
  const expected = shown(isFailure ? error.expected : 'no exception');
  const actual = shown(isFailure ? error.actual : String(error));
  const message = isFailure ? error.message : 'the test itself crashed';
  const [file, line] = suiteFrames(error?.stack)[0] ?? [basename(entry.filePath), entry.line];
  Object.assign(entry, {
    status: 'failed',
    message: `${message}\nExpected: ${expected}\nReceived: ${actual}`,
    trace: String(error?.stack ?? error).slice(0, MAX_SHOWN),
    filePath: `/tests/${file}`,
    line,
    extra: { expected, actual },
  });
  return entry;
}

function writeReport(path, tests, start, stop) {
  const count = (status) => tests.filter((test) => test.status === status).length;
  const report = {
    reportFormat: 'CTRF',
    specVersion: '0.0.0',
    results: {
      tool: { name: 'tendril-harness', version: '1.0.0' },
      summary: {
        tests: tests.length,
        passed: count('passed'),
        failed: count('failed'),
        skipped: 0,
        pending: 0,
        other: 0,
        start,
        stop,
      },
      tests,
    },
  };
  writeFileSync(`${path}.part`, `${JSON.stringify(report, null, 2)}\n`);
  renameSync(`${path}.part`, path);
}

/** Writes a report in which every test failed because it did not run. */
export function announce(path) {
  const now = Date.now();
  const notRun = new Failure('the test was not run', 'a result', 'none');
  writeReport(path, registered.map((test) => fail(entryOf(test), notRun)), now, now);
}

async function runOne(test, deadline) {
  const entry = entryOf(test);
  const start = Date.now();
  let root = null;
  let timer;
  try {
    if (start > deadline) throw new Failure('the time of all tests is over', 'a result', 'not run');
    root = asProduct(() => mkdtempSync(join(tmpdir(), 'tendril-test-')));
    const late = new Failure('the test did not end in time', `an end within ${TEST_TIMEOUT_MS} ms`, 'still running');
    const timeout = new Promise((_, reject) => {
      timer = setTimeout(() => reject(late), TEST_TIMEOUT_MS);
    });
    await Promise.race([test.body(new Context(root)), timeout]);
    entry.status = 'passed';
  } catch (error) {
    fail(entry, error);
  } finally {
    clearTimeout(timer);
    if (root !== null) asProduct(() => rmSync(root, { recursive: true, force: true }));
  }
  entry.duration = Date.now() - start;
  return entry;
}

/** Runs all registered tests; true if the expected number of tests passed and none failed. */
export async function runAll(path) {
  const start = Date.now();
  const entries = new Array(registered.length);
  let next = 0;
  const worker = async () => {
    while (next < registered.length) {
      const index = next++;
      entries[index] = await runOne(registered[index], start + SUITE_TIMEOUT_MS);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, worker));
  writeReport(path, entries, start, Date.now());
  const passed = entries.filter((entry) => entry.status === 'passed').length;
  for (const entry of entries) {
    console.log(`${entry.status.padEnd(6)} ${String(entry.duration).padStart(6)} ms  ${entry.suite[0]}: ${entry.name}`);
    if (entry.status !== 'passed') console.log(`    ${entry.message.replaceAll('\n', '\n    ')}`);
  }
  console.log(`${passed} of ${entries.length} tests passed, ${EXPECTED_TESTS} expected`);
  return passed === entries.length && entries.length === EXPECTED_TESTS;
}

import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseTaskToml } from '#core/task/manifest.ts';
import { resolveVerifier } from '#core/task/verifier.ts';
import {
  asJson,
  environmentWithoutDefaults,
  fixture,
  type HarborAnswer,
  readJson,
  withoutDefaults,
} from './support.ts';

function expectAnswer(source: string | Uint8Array, answer: HarborAnswer): void {
  const parsed = parseTaskToml(source);
  expect(parsed.valid).toBe(answer.ok);
  // Harbor itself crashes on a few values (`memory = "infG"`).
  if (answer.exception === 'OverflowError') return;
  expect(parsed.harborErrors).toEqual(answer.errors ?? []);
  expect(parsed.tomlError).toBe(answer.exception === 'TOMLDecodeError');
  if (!parsed.tomlError) expect(parsed.harborWarnings).toEqual(answer.warnings ?? []);
  if (!answer.ok) expect(parsed.problems.some((problem) => problem.severity === 'error')).toBe(true);
  for (const problem of parsed.problems) {
    expect(problem).toMatchObject({
      file: 'task.toml',
      line: expect.any(Number),
      column: expect.any(Number),
    });
  }
  if (!answer.ok || parsed.config === undefined) return;
  expect(withoutDefaults(parsed.config)).toEqual(asJson(answer.config));
  const { mode, environment } = resolveVerifier(parsed.config);
  expect(mode).toBe(answer.verifier_mode);
  if (answer.verifier_environment !== undefined) {
    expect(environmentWithoutDefaults(environment)).toEqual(answer.verifier_environment);
  }
}

describe('parseTaskToml', () => {
  const edges = readdirSync(fixture('edge'))
    .filter((name) => name.endsWith('.toml'))
    .map((name) => name.slice(0, -5));

  it.each(edges)('answers golden edge/%s as Harbor does', (name) => {
    const answer = readJson<HarborAnswer>(fixture(`edge/${name}.json`));
    expectAnswer(readFileSync(fixture(`edge/${name}.toml`)), answer);
  });

  it('answers generated inputs as Harbor does', () => {
    const answers = readJson<readonly (HarborAnswer & { toml: string })[]>(fixture('harbor-edge.json'));
    expect(answers.length).toBeGreaterThan(1000);
    for (const answer of answers) {
      try {
        expectAnswer(answer.toml, answer);
      } catch (error) {
        throw new Error(`differs from Harbor for ${JSON.stringify(answer.toml)}`, { cause: error });
      }
    }
  });

  it.each([
    ['[environment]\ncpus = "x"', 'invalid-value', 2, 1],
    ['\n[environment.healthcheck]\nretries = 1', 'missing-key', 2, 1],
    ['[task]\nname = "a/b"\n\n  authors = ["Jo"]', 'invalid-value', 4, 14],
    ['artifacts = ["/app",\n  "/app/../etc"]', 'invalid-value', 2, 3],
    ['artifacts = [{ source = "/a", service = "-bad" }]', 'invalid-value', 1, 31],
    ['[[steps]]\nname = "a"\n[[steps]]\nmin_reward = 1', 'missing-key', 3, 1],
    ['[[steps]]\nname = "a"\n[steps.verifier.environment]\nos = "dos"', 'invalid-value', 4, 1],
    ['version = 1', 'invalid-value', 1, 1],
    ['[environment]\nmemory = "4GB"', 'invalid-value', 1, 1],
    ['a.b = { c = 1 }\n"verifier" . timeout_sec = "soon"', 'invalid-value', 2, 1],
    ['[a]\n[a]', 'toml-syntax', 2, 2],
    ['x = {a = 1,\n b = 2}', 'toml-syntax', 1, 12],
    ['x = """\n\\e"""', 'toml-syntax', 2, 1],
    ['x = 1\ny = 07:32', 'toml-syntax', 2, 5],
    ['\uFEFFversion = "1.0"', 'toml-bom', 1, 1],
  ])('places the error of %j', (text, code, line, column) => {
    const error = parseTaskToml(text).problems.find((problem) => problem.severity === 'error');
    expect(error).toMatchObject({ code, line, column });
  });

  it('lists the keys that Harbor drops and warns of misplaced ones', () => {
    const text = readFileSync(fixture('edge/unknown_keys_everywhere.toml'), 'utf8');
    const parsed = parseTaskToml(text);
    expect(parsed.testCaseCount).toBe(31);
    expect(parsed.unknownKeys).toEqual([
      'bogus',
      'verifier.test_case_count',
      'verifier.artifacts',
      'agent.foo',
      'environment.shm_size',
      'weird',
    ]);
    expect(parsed.problems.map((problem) => [problem.code, problem.line])).toEqual([
      ['unknown-key', 1],
      ['artifacts-wrong-table', 4],
      ['unknown-key', 6],
      ['unknown-key', 8],
      ['unknown-key', 9],
    ]);
  });

  it.each(['-1', '0', '1.5', '"31"', 'true'])(
    'does not take test_case_count = %s for a number of tests',
    (value) => {
      const parsed = parseTaskToml(`[verifier]\ntest_case_count = ${value}`);
      expect(parsed.testCaseCount).toBeUndefined();
      expect(parsed.problems).toMatchObject([
        { code: 'invalid-test-case-count', severity: 'warning', line: 2 },
      ]);
    },
  );

  it('keeps metadata as JSON: dates and huge integers as text, __proto__ as a key', () => {
    const { config } = parseTaskToml(
      '[metadata]\nday = 2026-01-02\nat = 03:04:05\nzoned = 2026-01-02T03:04:05.5Z\nn = 9223372036854775807\n"__proto__" = { x = 1 }',
    );
    expect(JSON.stringify(config?.metadata)).toBe(
      '{"day":"2026-01-02","at":"03:04:05","zoned":"2026-01-02T03:04:05.500000Z","n":"9223372036854775807","__proto__":{"x":1}}',
    );
    expect(Object.getPrototypeOf(config?.metadata)).toBe(Object.prototype);
  });

  it('names the line of bytes that are not UTF-8', () => {
    const bytes = Buffer.concat([
      Buffer.from('version = "1.0"\nsource = "'),
      Buffer.from([0xff]),
      Buffer.from('"\n'),
    ]);
    expect(parseTaskToml(bytes)).toMatchObject({
      valid: false,
      tomlError: true,
      problems: [{ code: 'toml-encoding', line: 2, column: 11 }],
    });
  });

  it('never throws, whatever the bytes', () => {
    const sample = Buffer.from(
      'artifacts = ["/app", {source="/x"}]\n[metadata]\nd = 2026-01-02\ns = """a\\n"""\n[[steps]]\nname = \'a\'\n',
    );
    let seed = 7;
    const random = (limit: number): number => {
      seed = (seed * 1103515245 + 12345) % 2147483648;
      return seed % limit;
    };
    for (let round = 0; round < 3000; round++) {
      const bytes = Buffer.from(sample);
      for (let change = 0; change <= random(4); change++) bytes[random(bytes.length)] = random(256);
      expect(() => parseTaskToml(bytes)).not.toThrow();
    }
  });
});

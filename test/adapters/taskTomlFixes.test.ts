import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, test } from 'vitest';
import { parseTaskToml } from '#core/task/manifest.ts';
import { findFixes, isHarmless, joinFixes } from '#vscode/taskToml/fixes.ts';
import { legacyHints } from '#vscode/taskToml/legacyHints.ts';
import { applyEdits } from '#vscode/taskToml/tomlEdits.ts';
import { tomlTokens } from '#vscode/taskToml/tomlTokens.ts';

const fixtures = fileURLToPath(new URL('../fixtures/task/', import.meta.url));
const edge = readdirSync(`${fixtures}edge`).filter((name) => name.endsWith('.toml'));
const generated: readonly { readonly toml: string }[] = JSON.parse(
  readFileSync(`${fixtures}harbor-edge.json`, 'utf8'),
);
const texts = [
  ...edge.map((name) => [name, readFileSync(`${fixtures}edge/${name}`, 'utf8')] as const),
  // Of those without an old spelling a sample will do.
  ...generated
    .filter(
      ({ toml }, index) =>
        /version|memory|storage|internet|transport|artifacts/.test(toml) || index % 20 === 0,
    )
    .map(({ toml }, index) => [`generated ${index}`, toml] as const),
];
const manyMs = 60_000;

/** The text after the fix with this title. */
function fixed(text: string, title: string | RegExp): string {
  const fixes = findFixes(text, parseTaskToml);
  const fix = fixes.find((one) => (typeof title === 'string' ? one.title === title : title.test(one.title)));
  if (!fix) throw new Error(`There is no such fix; there are: ${fixes.map((one) => one.title).join(', ')}`);
  return applyEdits(text, fix.edits);
}

function titles(text: string): readonly string[] {
  return findFixes(text, parseTaskToml)
    .filter(({ code }) => code !== 'missing-test-case-count')
    .map(({ title }) => title);
}

describe('old spellings keep comments and layout', () => {
  it.each([
    ['version  =  "1.0"   # ours\n', 'version', 'schema_version  =  "1.0"   # ours\n'],
    [
      '[environment]\n\tmemory   = "2G" # plenty\n',
      'memory_mb',
      '[environment]\n\tmemory_mb   = 2048 # plenty\n',
    ],
    [
      'environment = { cpus = 1, storage = "512m" }\n',
      'storage_mb',
      'environment = { cpus = 1, storage_mb = 512 }\n',
    ],
    ['environment.memory = "1.5G"\r\nx = 1\r\n', 'memory_mb', 'environment.memory_mb = 1536\r\nx = 1\r\n'],
    [
      '[environment]\nmemory = "2G"\nmemory_mb = 2048\n',
      'Remove memory',
      '[environment]\nmemory_mb = 2048\n',
    ],
    [
      '[environment]\nmemory = "2G" # why\nmemory_mb = 2048\n',
      'Remove memory',
      '[environment]\n# why\nmemory_mb = 2048\n',
    ],
    [
      'environment = { memory = "2G", memory_mb = 2048 }',
      'Remove memory',
      'environment = { memory_mb = 2048 }',
    ],
    [
      'environment = { memory_mb = 2048, memory = "2G" }',
      'Remove memory',
      'environment = { memory_mb = 2048 }',
    ],
    ['[environment]\nallow_internet=false', 'no-network', '[environment]\nnetwork_mode="no-network"'],
    ['[environment]\nallow_internet = "yes"\n', 'public', '[environment]\nnetwork_mode = "public"\n'],
    [
      '[verifier.environment]\nnetwork_mode = "public"\nallow_internet = false\n',
      'no effect beside network_mode',
      '[verifier.environment]\nnetwork_mode = "public"\n',
    ],
    [
      '[[environment.mcp_servers]]\nname = "m"\nurl = "u"\ntransport = \'http\' # x\n',
      'streamable-http',
      '[[environment.mcp_servers]]\nname = "m"\nurl = "u"\ntransport = "streamable-http" # x\n',
    ],
    [
      '[environment]\nmcp_servers = [{ name = "m", url = "u", transport = "http" }]\n',
      'streamable-http',
      '[environment]\nmcp_servers = [{ name = "m", url = "u", transport = "streamable-http" }]\n',
    ],
    [
      '[[steps]]\nname = "a"\n[[steps]]\nname = "b"\n[steps.verifier.environment]\nmemory = "1G"\n',
      'memory_mb',
      '[[steps]]\nname = "a"\n[[steps]]\nname = "b"\n[steps.verifier.environment]\nmemory_mb = 1024\n',
    ],
  ])('%j', (text, title, result) => {
    expect(fixed(text, new RegExp(title))).toBe(result);
  });
});

describe('what changes Harbor reading says so', () => {
  it('artifacts move below the root keys, with their comment', () => {
    const text = [
      '# Task',
      'schema_version = "1.3"  # new',
      '',
      '[verifier]',
      'timeout_sec = 5',
      'artifacts = [',
      '  "/app", # the work',
      ']  # all',
      '# next',
      'test_case_count = 3',
      '',
    ].join('\n');
    expect(fixed(text, /^Move artifacts/)).toBe(
      [
        '# Task',
        'schema_version = "1.3"  # new',
        'artifacts = [',
        '  "/app", # the work',
        ']  # all',
        '',
        '[verifier]',
        'timeout_sec = 5',
        '# next',
        'test_case_count = 3',
        '',
      ].join('\n'),
    );
    const fix = findFixes(text, parseTaskToml).find(({ title }) => title.startsWith('Move'));
    expect(fix?.keepsMeaning).toBe(false);
  });

  it('artifacts move above the first header where the root has no key', () => {
    expect(fixed('# Task\r\n[metadata]\r\nartifacts = ["/app"]\r\na = 1\r\n', /^Move/)).toBe(
      '# Task\r\nartifacts = ["/app"]\r\n\r\n[metadata]\r\na = 1\r\n',
    );
    expect(fixed('verifier.artifacts = ["/app"]\n', /^Move/)).toBe('artifacts = ["/app"]\n');
    expect(fixed('verifier = { artifacts = ["/app"], timeout_sec = 1 }', /^Move/)).toBe(
      'verifier = { timeout_sec = 1 }\nartifacts = ["/app"]',
    );
  });

  it('the strategy gets its name', () => {
    expect(fixed('multi_step_reward_mode = "final"\n', /^Rename/)).toBe(
      'multi_step_reward_strategy = "final"\n',
    );
  });
});

describe('the number of tests', () => {
  const line = 'test_case_count = 1  # How many hidden tests the verifier reports';

  it.each([
    ['[verifier]\ntimeout_sec = 1 # x\n\n[agent]\n', `[verifier]\ntimeout_sec = 1 # x\n${line}\n\n[agent]\n`],
    ['[verifier]', `[verifier]\n${line}`],
    ['[agent]\n', `[agent]\n\n[verifier]\n${line}\n`],
    ['version = "1.0"', `version = "1.0"\n\n[verifier]\n${line}\n`],
    ['[verifier.env]\nA = "b"\n', `[verifier]\n${line}\n\n[verifier.env]\nA = "b"\n`],
    ['verifier.timeout_sec = 1\r\n', `verifier.timeout_sec = 1\r\nverifier.${line}\r\n`],
    ['verifier = {}', 'verifier = { test_case_count = 1 }'],
    ['verifier = { timeout_sec = 1 }', 'verifier = { timeout_sec = 1, test_case_count = 1 }'],
  ])('%j', (text, result) => {
    expect(fixed(text, /^Add test_case_count/)).toBe(result);
    const select = findFixes(text, parseTaskToml).find((fix) => fix.select)?.select;
    expect(result.slice(select?.start, select?.end)).toBe('1');
  });
});

describe('nothing is offered that would not help', () => {
  it.each([
    ['memory that contradicts memory_mb', '[environment]\nmemory = "2G"\nmemory_mb = 4096\n'],
    ['memory that nobody can read', '[environment]\nmemory = "2GB"\n'],
    ['memory that Harbor drops', '[environment]\nmemory = 4096\n'],
    ['allow_internet where Harbor ignores it', '[agent]\nallow_internet = false\n'],
    ['artifacts of a wrong type', '[verifier]\nartifacts = "/app"\n'],
    ['artifacts beside artifacts', 'artifacts = []\n[verifier]\nartifacts = ["/app"]\n'],
    ['a wrong strategy', 'multi_step_reward_mode = "max"\n'],
    ['both versions', 'schema_version = "1.3"\nversion = "1.0"\n'],
    ['no TOML', 'version = "1.0"\n[environment\nmemory = "2G"\n'],
  ])('%s', (_, text) => {
    expect(titles(text).filter((title) => title !== 'Rename to schema_version')).toEqual([]);
  });

  it('but other faults do not stop it', () => {
    expect(titles('[environment]\ncpus = "two"\nmemory = "2G"\n')).toEqual(['Write memory_mb = 2048']);
  });
});

/** Codes with their number. */
function codes(text: string): Map<string, number> {
  const all = [...parseTaskToml(text).problems, ...legacyHints(text, tomlTokens(text))];
  return new Map(all.map(({ code }) => [code, all.filter((one) => one.code === code).length]));
}

test('on every golden text: each fix takes its diagnostic away and keeps what Harbor reads', {
  timeout: manyMs,
}, () => {
  const seen = new Map<string, number>();
  for (const [name, text] of texts) {
    const before = parseTaskToml(text);
    for (const fix of findFixes(text, parseTaskToml)) {
      const result = applyEdits(text, fix.edits);
      const after = parseTaskToml(result);
      const where = `${name}: ${fix.title}\n${text}\n-----\n${result}`;
      expect(codes(result).get(fix.code) ?? 0, where).toBe((codes(text).get(fix.code) ?? 0) - 1);
      expect(after.tomlError, where).toBe(before.tomlError);
      if (fix.keepsMeaning) expect(after.config, where).toEqual(before.config);
      else {
        // Only the key that is now read is new.
        const rest = { artifacts: 0, multi_step_reward_strategy: 0, metadata: 0 };
        expect({ ...after.config, ...rest }, where).toEqual({ ...before.config, ...rest });
      }
      seen.set(fix.code, (seen.get(fix.code) ?? 0) + 1);
    }
  }
  expect([...seen.keys()].sort()).toEqual([
    'artifacts-wrong-table',
    'deprecated-key',
    'legacy-transport',
    'legacy-version',
    'missing-test-case-count',
    'unknown-key',
  ]);
});

test('on every golden text: all at once leaves no old spelling and keeps what Harbor reads', {
  timeout: manyMs,
}, () => {
  for (const [name, text] of texts) {
    const fixes = findFixes(text, parseTaskToml);
    const result = applyEdits(text, joinFixes(text, fixes, parseTaskToml));
    expect(findFixes(result, parseTaskToml).filter(isHarmless), `${name}\n${text}\n-----\n${result}`).toEqual(
      [],
    );
    expect(parseTaskToml(result).config, name).toEqual(parseTaskToml(text).config);
  }
});

test('all at once', () => {
  const text =
    'version = "1.0"\n\n[environment]\nmemory = "2G" # a\nstorage = "10G"\nallow_internet = false\n\n[verifier]\n';
  const fixes = findFixes(text, parseTaskToml);
  expect(applyEdits(text, joinFixes(text, fixes, parseTaskToml))).toBe(
    'schema_version = "1.0"\n\n[environment]\nmemory_mb = 2048 # a\nstorage_mb = 10240\nnetwork_mode = "no-network"\n\n[verifier]\n',
  );
});

import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { normaliseArtifacts } from '#core/task/artifacts.ts';
import { contentDigest, contentFiles, environmentId, testsDigest } from '#core/task/digest.ts';
import { discoverTasks, findTasks } from '#core/task/discover.ts';
import { resolveEnv, wantedHostVariables } from '#core/task/env.ts';
import { ignoreMatcher } from '#core/task/gitignore.ts';
import { loadTask } from '#core/task/load.ts';
import { parseTaskToml } from '#core/task/manifest.ts';
import { readSpec, stripCanary } from '#core/task/spec.ts';
import { resolveVerifier } from '#core/task/verifier.ts';
import { asJson, fixture, type HarborAnswer, hasShared, readJson, shared } from './support.ts';

describe('small rules', () => {
  const env = readJson<{
    host_env: Record<string, string>;
    cases: { in: string; out?: string; error?: string }[];
  }>(fixture('env-resolution.json'));

  it.each(env.cases)('resolves $in', ({ in: value, out, error }) => {
    const resolve = (): unknown => resolveEnv({ K: value }, env.host_env).K;
    if (error === undefined) expect(resolve()).toBe(out);
    else expect(resolve).toThrow(error);
  });

  it('lists the host variables that a table wants', () => {
    expect(wantedHostVariables({ A: 'x', B: `\${HOME}`, C: `\${N:-1}` })).toEqual([
      { key: 'B', name: 'HOME', fallback: null },
      { key: 'C', name: 'N', fallback: '1' },
    ]);
  });

  it.each(readJson<{ in: string; out: string }[]>(fixture('strip-canary.json')))(
    'strips the canary of $in',
    (entry) => {
      expect(stripCanary(entry.in)).toBe(entry.out);
    },
  );

  it('matches ignore patterns as pathspec does', () => {
    for (const { lines, path: file, ignored } of readJson<
      { lines: string[]; path: string; ignored: boolean }[]
    >(fixture('gitignore.json'))) {
      expect([lines, file, ignoreMatcher(lines)(file)]).toEqual([lines, file, ignored]);
    }
  });

  it('puts the convention folder before the declared artifacts', () => {
    const of = (toml: string): unknown[] => {
      const { config } = parseTaskToml(toml);
      if (config === undefined) throw new Error(toml);
      return normaliseArtifacts({ config }).map((entry) => entry.source);
    };
    expect(of('artifacts = ["/app", { source = "/x" }]')).toEqual(['/logs/artifacts', '/app', '/x']);
    expect(of('artifacts = ["/app", "/logs/artifacts/"]')).toEqual(['/app', '/logs/artifacts/']);
    expect(of('artifacts = [{ source = "/logs/artifacts", service = "db" }]')).toEqual([
      '/logs/artifacts',
      '/logs/artifacts',
    ]);
  });

  it('hashes what Harbor hashes', async () => {
    const dir = mkdtempSync(path.join(tmpdir(), 'e2e-swe-digest-'));
    try {
      for (const folder of ['tests/__pycache__', 'environment', 'other'])
        mkdirSync(path.join(dir, folder), { recursive: true });
      for (const file of [
        'task.toml',
        'tests/test.sh',
        'tests/__pycache__/x.pyc',
        'tests/~',
        'other/x',
        'tests/\u{1F600}',
        'tests/\uFF5E',
      ]) {
        writeFileSync(path.join(dir, file), file);
      }
      symlinkSync('test.sh', path.join(dir, 'tests/link'));
      symlinkSync('../other', path.join(dir, 'tests/folder'));
      expect(await contentFiles(dir)).toEqual([
        'task.toml',
        'tests/link',
        'tests/test.sh',
        'tests/\uFF5E',
        'tests/\u{1F600}',
      ]);
      const before = [await contentDigest(dir), await testsDigest(dir)];
      expect(before[0]).toMatch(/^sha256:[0-9a-f]{64}$/);
      writeFileSync(path.join(dir, 'task.toml'), 'changed');
      const after = [await contentDigest(dir), await testsDigest(dir)];
      expect(after[0]).not.toBe(before[0]);
      expect(after[1]).toBe(before[1]);
      writeFileSync(path.join(dir, '.gitignore'), 'tests/**\n!tests/test.sh\n');
      expect(await contentFiles(dir)).toEqual(['task.toml', 'tests/test.sh']);
      expect(await environmentId(path.join(dir, 'environment'))).toBe(
        await environmentId('/nowhere/environment'),
      );
      expect(await environmentId(path.join(dir, 'environment'), 'a:1')).not.toBe(
        await environmentId('/nowhere/environment'),
      );
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });

  it('reads the spec with plain line ends and without canary or mark', async () => {
    const dir = mkdtempSync(path.join(tmpdir(), 'e2e-swe-spec-'));
    try {
      writeFileSync(path.join(dir, 'instruction.md'), '\uFEFF# a canary line\r\n\r\nDo it\r\n');
      expect(await readSpec({ dir, name: 'x' })).toBe('Do it\n');
      await expect(readSpec({ dir: path.join(dir, 'absent'), name: 'x' })).rejects.toThrow('spec of x');
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });
});

const tasks = 'data/harbor-tasks';
const skip = !hasShared('golden/config', tasks);

test.skipIf(skip)(
  'golden/config: the model, the verifier and the folder of every public sample',
  async () => {
    for (const file of readdirSync(shared('golden/config'))) {
      const name = file.replace('.json', '');
      const golden = readJson<HarborAnswer>(shared(`golden/config/${file}`));
      const dir = shared(`${tasks}/${name}`);
      const parsed = parseTaskToml(readFileSync(path.join(dir, 'task.toml')));
      const entry = await loadTask(dir);
      expect([name, parsed.valid, entry.valid]).toEqual([name, golden.ok, golden.ok]);
      expect([name, parsed.harborErrors]).toEqual([name, golden.errors ?? []]);
      expect([name, parsed.tomlError]).toEqual([name, golden.exception === 'TOMLDecodeError']);
      if (!golden.ok || parsed.config === undefined) continue;
      expect([name, new Set(parsed.harborWarnings)]).toEqual([name, new Set(golden.warnings)]);
      expect([name, asJson(parsed.config)]).toEqual([name, golden.config]);
      const verifier = resolveVerifier(parsed.config);
      expect([name, verifier.mode]).toEqual([name, golden.verifier_mode]);
      if (golden.verifier_environment != null) {
        expect([name, asJson(verifier.environment)]).toEqual([name, golden.verifier_environment]);
      }
      const isValidDir = !entry.problems.some((problem) => problem.code === 'missing-file');
      expect([name, isValidDir]).toEqual([name, golden.is_valid_dir]);
    }
  },
);

test.skipIf(skip)('golden/task-digests and golden/environment-ids', async () => {
  const digests = readJson<Record<string, { digest: string; files: string[] }>>(
    shared('golden/task-digests.json'),
  );
  for (const [name, golden] of Object.entries(digests)) {
    const dir = shared(`${tasks}/${name}`);
    expect([name, await contentFiles(dir)]).toEqual([name, golden.files]);
    expect([name, await contentDigest(dir)]).toEqual([name, golden.digest]);
  }
  const ids = readJson<Record<string, { environment_id: string }>>(shared('golden/environment-ids.json'));
  for (const [name, golden] of Object.entries(ids)) {
    const id = await environmentId(shared(`${tasks}/${name}/environment`));
    expect([name, id]).toEqual([name, golden.environment_id]);
  }
});

test.skipIf(skip)('all public folders list', async () => {
  for (const corpus of ['tasks', 'harbor-tasks', 'e2e-swe', 'nl2repo-harbor']) {
    const dir = shared(`data/${corpus}`);
    const folders = readdirSync(dir, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    const entries = await discoverTasks(dir);
    expect([corpus, entries.length]).toEqual([corpus, folders.length]);
    expect(await findTasks(dir)).toEqual(entries);
    for (const entry of entries) expect(entry.gradable || entry.problems.length > 0).toBe(true);
  }
});

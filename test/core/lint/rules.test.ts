import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';

const root = path.resolve(import.meta.dirname, '../../..');
const biome = path.join(root, 'node_modules/@biomejs/biome/bin/biome');

const report = z.object({
  diagnostics: z.array(z.object({ category: z.string(), location: z.object({ path: z.string() }) })),
});

/** A copy of the rules over a folder of seeded files: what each file breaks. */
const seeded: { file: string; text: string }[] = [];
let findings: Map<string, Set<string>>;

function seed(folder: string, text: string): string {
  const file = `${folder}/seeded${seeded.length}.ts`;
  seeded.push({ file, text });
  return file;
}

beforeAll(async () => {
  const dir = await mkdtemp(path.join(tmpdir(), 'e2e-swe-lint-'));
  try {
    const rules = JSON.parse(await readFile(path.join(root, 'biome.json'), 'utf8'));
    await writeFile(path.join(dir, 'biome.json'), JSON.stringify({ ...rules, vcs: { enabled: false } }));
    for (const { file, text } of seeded) {
      await mkdir(path.dirname(path.join(dir, file)), { recursive: true });
      await writeFile(path.join(dir, file), text);
    }
    const flags = ['lint', '--reporter=json', '--max-diagnostics=none', '.'];
    const { stdout } = spawnSync(process.execPath, [biome, ...flags], { cwd: dir, encoding: 'utf8' });
    findings = new Map();
    for (const { category, location } of report.parse(JSON.parse(stdout)).diagnostics) {
      const rules = findings.get(location.path) ?? new Set();
      findings.set(location.path, rules.add(category.slice(category.lastIndexOf('/') + 1)));
    }
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
});

/** Seeded faults: a rule that lints nothing would pass on all of them. */
describe('the shape of the code is lint', () => {
  const imports: [string, string, boolean][] = [
    ['src/core/task', '#core/base/errors.ts', true],
    ['src/core/task', '#core/report/types.ts', false],
    ['src/core/base', '#core/task/types.ts', false],
    ['src/core/report', 'vscode', false],
    ['src/core/container', 'dockerode', true],
    ['src/core/grading', 'dockerode', false],
    ['src/core/grading', '#core/container/engine.ts', true],
    ['src/core/grading', '#core/trial/types.ts', false],
    ['src/core/trial', '#core/container/engine.ts', false],
    ['src/core/snapshot', '#core/container/engine.ts', true],
    ['src/core/snapshot', '#core/grading/types.ts', false],
    ['src/core/attempt', '#core/snapshot/types.ts', true],
    ['src/core/attempt', '#core/container/engine.ts', true],
    ['src/core/attempt', '#core/agent/x.ts', false],
    ['src/core/task', '../base/errors.ts', false],
    ['src/cli', 'vscode', false],
    ['src/cli', '#vscode/notify.ts', false],
    ['src/vscode', 'dockerode', false],
    ['src/vscode', 'vscode', true],
  ];
  for (const [folder, specifier, allowed] of imports) {
    const text = `import type { X } from '${specifier}';\nexport const x: X | undefined = undefined;\n`;
    const file = seed(folder, text);
    test(`${folder} ${allowed ? 'may' : 'may not'} import ${specifier}`, () => {
      expect(findings.get(file)?.has('noRestrictedImports') ?? false).toBe(!allowed);
    });
  }

  for (const [rule, text] of [
    ['noConsole', "console.log('x');\n"],
    ['noDefaultExport', 'export default 1;\n'],
    ['noExplicitAny', 'export const x: any = 1;\n'],
    ['noFloatingPromises', 'async function f(): Promise<void> {}\nexport function g(): void {\n  f();\n}\n'],
    ['noExcessiveLinesPerFile', `${'export {};\n'.repeat(401)}`],
  ] as const) {
    const file = seed('src/core/task', text);
    test(rule, () => expect([...(findings.get(file) ?? [])]).toContain(rule));
  }
});

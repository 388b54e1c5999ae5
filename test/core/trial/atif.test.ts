import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { trajectoryProblems } from '#core/trial/atif.ts';
import { hasShared, readJson, shared } from '../task/support.ts';

interface Golden {
  readonly files: readonly { readonly file: string; readonly valid: boolean }[];
  readonly cases: readonly {
    readonly name: string;
    readonly doc: unknown;
    readonly valid: boolean;
    readonly errors?: readonly { readonly loc: string; readonly type: string }[];
  }[];
}

/** What the validator of the real Harbor 0.22 said. */
const golden = readJson<Golden>(
  fileURLToPath(new URL('../../fixtures/trial/atif-cases.json', import.meta.url)),
);

describe('a trajectory is judged as Harbor judges it', () => {
  test.each(golden.cases)('$name: $valid', ({ doc, valid, errors }) => {
    const problems = trajectoryProblems(doc);
    expect(problems.length === 0, problems.join('\n')).toBe(valid);
    // Where it is: Harbor names the branches of a union after the place of the union.
    const [place] = (errors ?? []).map(({ loc }) => loc.replace(/\.(?:str|list\[.*)$/, ''));
    const parent = place?.replace(/\.?[^.]+$/, '');
    if (place) expect(problems.some((problem) => problem.startsWith(parent ?? ''))).toBe(true);
  });

  test.skipIf(!hasShared('data/harbor-trials'))('real files', () => {
    for (const { file, valid } of golden.files) {
      const document: unknown = JSON.parse(readFileSync(shared(`data/harbor-trials/${file}`), 'utf8'));
      expect([file, trajectoryProblems(document).length === 0]).toEqual([file, valid]);
    }
  });
});

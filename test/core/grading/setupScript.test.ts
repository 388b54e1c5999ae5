import { afterAll, beforeAll, expect, test } from 'vitest';
import { FakeEngine } from '../../fakes/engine.ts';
import { Bench, ctrf } from './support.ts';

let bench: Bench;
beforeAll(async () => {
  bench = await Bench.make();
});
afterAll(() => bench.remove());

test("phases come from test.sh's own marks, and a failed setup is the submission's", async () => {
  const marked = await bench.task({
    testScript: '#!/bin/bash\necho "##e2e-swe phase=setup at=$(date +%s.%N)"\n',
  });
  const now = Date.now() / 1000;
  const engine = new FakeEngine({
    test: async (container, print) => {
      container.write('/logs/verifier/reward.txt', '0');
      await print(
        `##e2e-swe phase=setup at=${now - 3}\n##e2e-swe setup-exit=9\n##e2e-swe phase=tests at=${now - 1}\n`,
      );
      return 1;
    },
  });
  const result = await bench.grade(engine, marked);
  expect(result).toMatchObject({
    verdict: 'unresolved',
    reason: 'setup-failed',
    explanation: { text: 'The submission has no setup.sh.' },
  });
  const durations = new Map(result.phases.map(({ name, durationMs }) => [name, durationMs]));
  expect(durations.get('setup')).toBeCloseTo(2000, -2);
  expect(durations.get('tests')).toBeGreaterThan(900);
  expect(durations.has('verify')).toBe(false);
});

test.each([
  ['bash ./setup.sh', 'failed', true],
  ['bash ./setup.sh', 'passed', false],
  ['# no setup.sh here', 'failed', false],
  ['bash /tests/setup.sh', 'failed', false],
])(
  'a test.sh of %j whose first test %s: it is told that setup.sh is missing: %s',
  async (line, first, told) => {
    const task = await bench.task({ testScript: `#!/bin/bash\n${line}\n` });
    const engine = new FakeEngine({
      test: async (container) => {
        container.write('/logs/verifier/reward.txt', '0');
        container.write('/logs/verifier/ctrf.json', ctrf({ first, second: 'failed' }));
        return 0;
      },
    });
    const { verdict, explanation } = await bench.grade(engine, task);
    expect(verdict).toBe('unresolved');
    expect(explanation?.text.includes('The submission has no setup.sh')).toBe(told);
  },
);

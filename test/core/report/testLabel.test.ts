import { expect, test } from 'vitest';
import { testLabel } from '#core/report/testLabel.ts';

test.each<[suite: string[], name: string, label: string]>([
  [['test_a.py'], 'test_a.py::test_one', 'test_one'],
  [['test_a.py', 'TestB'], 'test_a.py::TestB::test_one[a::b/test_a.py]', 'test_one[a::b/test_a.py]'],
  [['tests/unit/test_a.py'], '../tests/unit/test_a.py::test_one', 'test_one'],
  [['other.py'], 'test_a.py::test_one', 'test_a.py::test_one'],
  [['test_a.py'], 'test_a.py', 'test_a.py'],
  [[], 'a::b', 'a::b'],
  [['std::vec'], 'std::vec::push', 'std::vec::push'],
  [[''], '::x', 'x'],
  [['s'], '', ''],
])('of %j the test %j is labelled %j', (suite, name, label) => {
  expect(testLabel({ suite, name })).toBe(label);
});

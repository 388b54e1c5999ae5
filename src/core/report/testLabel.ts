import type { TestResult } from './types.ts';

/**
 * A test's name without what its suite says already: pytest's node ids (`file.py::Class::test[param]`) repeat file and
 * class in front of it. For labels only; the name stays what identifies a test.
 */
export function testLabel({ suite, name }: Pick<TestResult, 'suite' | 'name'>): string {
  const parameters = name.indexOf('[');
  const head = parameters < 0 ? name : name.slice(0, parameters);
  const parts = head.split('::');
  const said = new Set(suite.map(lastPart));
  while (parts.length > 1 && said.has(lastPart(parts[0] ?? ''))) parts.shift();
  return parts.join('::') + name.slice(head.length);
}

function lastPart(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

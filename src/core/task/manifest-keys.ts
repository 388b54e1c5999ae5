import { isTable } from './lax.ts';
import { place } from './place.ts';
import {
  agentShape,
  artifactShape,
  authorShape,
  collectShape,
  packageShape,
  solutionShape,
  stepShape,
  taskShape,
  verifierShape,
} from './schema.ts';
import { environmentShape, healthcheckShape, mcpServerShape, tpuShape } from './schema-environment.ts';
import type { TomlScan } from './toml-scan.ts';
import type { TaskProblem } from './types.ts';

/** The keys that Harbor's model has no field for: it drops them without a word (harbor.md §2). */

interface Known {
  readonly keys: readonly string[];
  /** Tables, and arrays of tables, below. */
  readonly inner?: Readonly<Record<string, Known>>;
}

const of = (
  shape: object,
  inner: Readonly<Record<string, Known>> = {},
  more: readonly string[] = [],
): Known => ({
  keys: [...Object.keys(shape), ...more],
  inner,
});

const environment = of(
  environmentShape,
  { tpu: of(tpuShape), mcp_servers: of(mcpServerShape), healthcheck: of(healthcheckShape) },
  ['memory', 'storage', 'allow_internet'],
);
const verifier = of(verifierShape, { environment, collect: of(collectShape) });
const agent = of(agentShape);
const artifacts = of(artifactShape);
const root = of(
  taskShape,
  {
    task: of(packageShape, { authors: of(authorShape) }),
    verifier,
    agent,
    environment,
    solution: of(solutionShape),
    steps: of(stepShape, { agent, verifier, healthcheck: of(healthcheckShape), artifacts }),
    artifacts,
  },
  ['version'],
);

/** The paths of all unknown keys, in document order. */
export function unknownKeys(
  table: Readonly<Record<string, unknown>>,
): readonly (readonly (string | number)[])[] {
  return walk(table, root, []);
}

function walk(value: unknown, known: Known, under: readonly (string | number)[]): (string | number)[][] {
  if (Array.isArray(value)) return value.flatMap((item, index) => walk(item, known, [...under, index]));
  if (!isTable(value)) return [];
  return Object.entries(value).flatMap(([key, item]) => {
    if (!known.keys.includes(key)) return [[...under, key]];
    const inner = known.inner?.[key];
    return inner === undefined ? [] : walk(item, inner, [...under, key]);
  });
}

/** Warnings about keys that Harbor ignores, artifacts in a wrong table, and the number of tests. */
export function keyProblems(
  table: Readonly<Record<string, unknown>>,
  unknown: readonly (readonly (string | number)[])[],
  testCaseCount: number | undefined,
  scan: TomlScan,
): readonly TaskProblem[] {
  const out: TaskProblem[] = [];
  for (const path of unknown) {
    const name = path.join('.');
    if (name === 'verifier.test_case_count') continue;
    if (path[path.length - 1] === 'artifacts') out.push(misplaced(path, scan));
    else out.push(place('unknown-key', 'warning', `Harbor ignores ${name}${advice(path)}.`, path, scan));
  }
  const metadata = isTable(table.metadata) ? table.metadata : {};
  if (Array.isArray(metadata.artifacts)) out.push(misplaced(['metadata', 'artifacts'], scan));
  out.push(...countProblems(table, testCaseCount, scan));
  return out;
}

function misplaced(path: readonly (string | number)[], scan: TomlScan): TaskProblem {
  const message = `Harbor ignores ${path.join('.')}: write artifacts above the first table header.`;
  return place('artifacts-wrong-table', 'warning', message, path, scan);
}

function advice(path: readonly (string | number)[]): string {
  const key = path[path.length - 1];
  if (key === 'multi_step_reward_mode') return ': its name is multi_step_reward_strategy';
  if (key === 'allow_internet') return ' here: write network_mode';
  return ', which is no key of its task format';
}

function countProblems(
  table: Readonly<Record<string, unknown>>,
  testCaseCount: number | undefined,
  scan: TomlScan,
): readonly TaskProblem[] {
  if (testCaseCount !== undefined) return [];
  const path = ['verifier', 'test_case_count'];
  if (isTable(table.verifier) && Object.hasOwn(table.verifier, 'test_case_count')) {
    const message = 'verifier.test_case_count is not a whole number above zero: the reward alone decides.';
    return [place('invalid-test-case-count', 'warning', message, path, scan)];
  }
  const message =
    'task.toml does not say how many tests there are ([verifier].test_case_count): the reward alone decides, and missing tests go unseen.';
  return [place('missing-test-case-count', 'warning', message, path, scan)];
}

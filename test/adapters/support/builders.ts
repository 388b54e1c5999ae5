import type { GradeSummary } from '#core/grading/store.ts';
import type { GradeEvent, GradeResult, SubmissionSource } from '#core/grading/types.ts';
import type { Counts, TestResult } from '#core/report/types.ts';
import type { EnvironmentConfig, Task, TaskEntry, TaskProblem } from '#core/task/types.ts';
import type { Grader, GradeStore } from '#vscode/ports.ts';

const environment: EnvironmentConfig = {
  network_mode: 'no-network',
  allowed_hosts: null,
  build_timeout_sec: 600,
  docker_image: null,
  os: 'linux',
  cpus: 2,
  memory_mb: 2048,
  storage_mb: null,
  gpus: null,
  gpu_types: null,
  tpu: null,
  mcp_servers: [],
  env: {},
  skills_dir: null,
  healthcheck: null,
  workdir: null,
};

export interface TaskOptions {
  readonly testCaseCount?: number;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

export function makeTask(dir: string, options: TaskOptions = {}): Task {
  const name = dir.slice(dir.lastIndexOf('/') + 1);
  return {
    dir,
    name,
    config: {
      schema_version: '1.0',
      task: null,
      metadata: options.metadata ?? { category: 'query-engine', programming_language: 'python' },
      verifier: {
        network_mode: 'no-network',
        allowed_hosts: null,
        timeout_sec: 900,
        env: {},
        user: null,
        environment_mode: 'separate',
        environment: null,
        collect: [],
      },
      agent: { network_mode: null, allowed_hosts: null, timeout_sec: null, user: null },
      environment,
      solution: { env: {} },
      source: null,
      multi_step_reward_strategy: null,
      steps: null,
      artifacts: ['/app'],
    },
    verifierMode: 'separate',
    verifierEnvironment: environment,
    testCaseCount: options.testCaseCount ?? 3,
    unknownKeys: [],
  };
}

export function makeEntry(dir: string, options: TaskOptions = {}): TaskEntry {
  const task = makeTask(dir, options);
  return { path: dir, name: task.name, valid: true, gradable: true, problems: [], task };
}

export function brokenEntry(dir: string, ...problems: readonly TaskProblem[]): TaskEntry {
  return { path: dir, name: dir.slice(dir.lastIndexOf('/') + 1), valid: false, gradable: false, problems };
}

export function makeTest(
  id: string,
  status: TestResult['status'],
  more: Partial<TestResult> = {},
): TestResult {
  return { id, name: `test ${id}`, suite: ['suite'], status, durationMs: 5, ...more };
}

export function countTests(tests: readonly TestResult[], expected: number | null): Counts {
  const count = (status: TestResult['status']): number =>
    tests.filter((test) => test.status === status).length;
  return {
    expected,
    reported: tests.length,
    passed: count('passed'),
    failed: count('failed'),
    skipped: count('skipped'),
    pending: count('pending'),
    other: count('other'),
    notReported: Math.max(0, (expected ?? tests.length) - tests.length),
  };
}

export function makeResult(
  task: Task,
  verdict: GradeResult['verdict'],
  tests: readonly TestResult[],
  more: Partial<GradeResult> & { readonly source?: SubmissionSource['kind'] } = {},
): GradeResult {
  const { source = 'solution', ...rest } = more;
  return {
    schemaVersion: 1,
    task: { name: task.name, path: task.dir, digest: 'sha256:0' },
    verdict,
    reward: verdict === 'resolved' ? 1 : 0,
    counts: countTests(tests, task.testCaseCount ?? null),
    tests,
    phases: [{ name: 'verify', durationMs: 1200 }],
    evidence: { source },
    marks: [],
    problems: [],
    dir: `/store/grades/${task.name}/1`,
    startedAt: '2026-01-02T03:04:05.000Z',
    finishedAt: '2026-01-02T03:04:09.000Z',
    ...rest,
  };
}

/** A grader that tells these events, or throws what it is given. */
export function graderOf(...events: readonly (GradeEvent | Error)[]): Grader {
  return async function* grade() {
    for (const event of events) {
      if (event instanceof Error) throw event;
      yield event;
    }
  };
}

/** A store in memory. */
export class FakeStore implements GradeStore {
  readonly results = new Map<string, GradeResult>();
  listed = 0;

  add(result: GradeResult): void {
    this.results.set(result.dir, result);
  }

  async list(task: Task): Promise<readonly GradeSummary[]> {
    this.listed++;
    return [...this.results.values()]
      .filter((result) => result.task.path === task.dir)
      .map((result) => ({
        dir: result.dir,
        id: result.dir.slice(result.dir.lastIndexOf('/') + 1),
        verdict: result.verdict,
        ...(result.reason === undefined ? {} : { reason: result.reason }),
        source: result.evidence.source,
        counts: result.counts,
        startedAt: result.startedAt,
      }))
      .reverse();
  }

  async read(dir: string): Promise<GradeResult> {
    const result = this.results.get(dir);
    if (!result) throw new Error(`no grade in ${dir}`);
    return result;
  }
}

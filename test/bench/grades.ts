import { execFile } from 'node:child_process';
import { chmod, copyFile, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { nullLog } from '#core/base/log.ts';
import { connectEngine } from '#core/container/connect.ts';
import { PreparedContainers } from '#core/grading/prepared.ts';
import type { PhaseName } from '#core/grading/types.ts';
import { makeEmptyGrade, timeOurs, timeScript } from './emptyGrade.ts';
import { median, verdictOf } from './statistics.ts';

interface GradeCase {
  readonly name: string;
  readonly files: number;
  readonly bytes: number;
  /** Counted runs of each side, in turn, after one that is not counted. */
  readonly runs: number;
  readonly limit: number;
  /** The container was started before, while the builder still typed. */
  readonly isPrepared?: boolean;
}

export const smallCases: readonly GradeCase[] = [
  { name: '50 files, 200 KB', files: 50, bytes: 4_000, runs: 7, limit: 0.5 },
  { name: '1,000 files, 10 MB', files: 1_000, bytes: 10_000, runs: 7, limit: 0.6 },
  { name: '50 files, prepared', files: 50, bytes: 4_000, runs: 7, limit: 0.25, isPrepared: true },
];
export const largeCases: readonly GradeCase[] = [
  { name: '10,000 files, 100 MB', files: 10_000, bytes: 10_000, runs: 3, limit: 0.9 },
  { name: '50,000 files, 50 MB', files: 50_000, bytes: 1_000, runs: 3, limit: 0.8 },
];

/** What a container has time to start in. */
const typingMs = 1000;

interface GradeLine {
  readonly name: string;
  readonly runs: number;
  readonly ours: number;
  readonly script: number;
  readonly ratio: number;
  readonly limit: number;
  readonly phases: string;
}

/** Empty grades and the script in turns, in the process as which they are to be measured. */
export async function timeGrades(cases: readonly GradeCase[]): Promise<GradeLine[]> {
  const engine = await connectEngine({ env: process.env });
  const lines: GradeLine[] = [];
  const prepared = new PreparedContainers({ connect: async () => engine, log: nullLog });
  const waiting = prepared.of('bench');
  for (const [index, { name, files, bytes, runs, limit, isPrepared }] of cases.entries()) {
    const bench = await makeEmptyGrade(files, bytes);
    try {
      const ours: number[] = [];
      const script: number[] = [];
      const phases = new Map<PhaseName, number[]>();
      for (let i = 0; i <= runs; i++) {
        if (isPrepared) {
          prepared.expect('bench');
          await delay(typingMs);
        }
        const ourRun = await timeOurs(bench, engine, isPrepared ? waiting : undefined);
        const scriptRun = await timeScript(bench, index * 100 + i);
        if (i === 0) continue;
        ours.push(ourRun.ms);
        script.push(scriptRun);
        for (const phase of ourRun.phases)
          phases.set(phase.name, [...(phases.get(phase.name) ?? []), phase.durationMs]);
      }
      const line = {
        ...{ name, runs, limit, ours: median(ours), script: median(script) },
        ratio: median(ours.map((value, i) => value / (script[i] ?? value))),
        phases: [...phases].map(([phase, values]) => `${phase} ${Math.round(median(values))}`).join(', '),
      };
      lines.push(line);
      console.error(gradeRow(line, '', limit));
    } finally {
      await bench.dispose();
    }
  }
  engine.close();
  return lines;
}

/** The same by somebody who may use the engine's socket and nothing else of it; none where we are such a one. */
export async function timeGradesAsMember(): Promise<GradeLine[]> {
  if (process.getuid?.() !== 0) return [];
  const home = await mkdtemp(path.join(tmpdir(), 'e2e-swe-bench-home-'));
  try {
    await chmod(home, 0o777);
    const script = path.join(home, 'bench.cjs');
    await copyFile(process.argv[1] as string, script);
    const { gid } = await stat(
      /^unix:\/\/(.*)/.exec(process.env.DOCKER_HOST ?? '')?.[1] ?? '/var/run/docker.sock',
    );
    const { stdout } = await promisify(execFile)(process.execPath, [script, memberArgument], {
      cwd: home,
      uid: 65_534,
      gid,
      env: { ...process.env, HOME: home },
    });
    return JSON.parse(stdout) as GradeLine[];
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

/** What the bench calls itself with, as that somebody. */
export const memberArgument = 'grades-as-member';

export function isWithin({ ratio, limit }: GradeLine): boolean {
  return ratio <= limit;
}

export function gradeRow(line: GradeLine, who: string, limit: number | undefined): string {
  const { name, runs, ours, script, ratio, phases } = line;
  return `| Empty grade, ${name}, ${who} | ${runs} | ${Math.round(ours)} | ${Math.round(script)} | ${ratio.toFixed(2)} | ${verdictOf(ratio, limit)} | ${phases} |`;
}

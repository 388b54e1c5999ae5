import { execFile } from 'node:child_process';
import { chmod, copyFile, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { cpus, loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { connectEngine } from '#core/container/connect.ts';
import type { PhaseName } from '#core/grading/types.ts';
import { makeEmptyGrade, timeOurs, timeScript } from './emptyGrade.ts';
import { timeFsChannel } from './fsChannel.ts';
import { timeSnapshots } from './snapshots.ts';

/** Counted runs of each side, in turn, after one that is not counted. */
const runs = 7;
const cases = [
  { name: '50 files, 200 KB', files: 50, bytes: 4_000, limit: 1.0 },
  { name: '1,000 files, 10 MB', files: 1_000, bytes: 10_000, limit: undefined },
];

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? (sorted[middle] ?? 0) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}

interface GradeLine {
  readonly name: string;
  readonly ours: number;
  readonly script: number;
  readonly ratio: number;
  readonly phases: string;
}

/** Empty grades and the script in turns, in the process as which they are to be measured. */
async function timeGrades(): Promise<GradeLine[]> {
  const engine = await connectEngine({ env: process.env });
  const lines: GradeLine[] = [];
  for (const [index, { name, files, bytes }] of cases.entries()) {
    const bench = await makeEmptyGrade(files, bytes);
    try {
      const ours: number[] = [];
      const script: number[] = [];
      const phases = new Map<PhaseName, number[]>();
      for (let i = 0; i <= runs; i++) {
        const ourRun = await timeOurs(bench, engine);
        const scriptRun = await timeScript(bench, index * 100 + i);
        if (i === 0) continue;
        ours.push(ourRun.ms);
        script.push(scriptRun);
        for (const phase of ourRun.phases)
          phases.set(phase.name, [...(phases.get(phase.name) ?? []), phase.durationMs]);
      }
      lines.push({
        name,
        ours: median(ours),
        script: median(script),
        ratio: median(ours.map((value, i) => value / (script[i] ?? value))),
        phases: [...phases].map(([phase, values]) => `${phase} ${Math.round(median(values))}`).join(', '),
      });
    } finally {
      await bench.dispose();
    }
  }
  engine.close();
  return lines;
}

/** The same by somebody who may use the engine's socket and nothing else of it; undefined where we are such a one. */
async function timeGradesAsMember(): Promise<GradeLine[] | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const home = await mkdtemp(path.join(tmpdir(), 'e2e-swe-bench-home-'));
  try {
    await chmod(home, 0o777);
    const script = path.join(home, 'bench.cjs');
    await copyFile(process.argv[1] as string, script);
    const { gid } = await stat('/var/run/docker.sock');
    const { stdout } = await promisify(execFile)(process.execPath, [script, 'grades'], {
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

function row(
  { name, ours, script, ratio, phases }: GradeLine,
  who: string,
  limit: number | undefined,
): string {
  const verdict = limit === undefined ? '' : `<= ${limit.toFixed(1)} ${ratio <= limit ? 'met' : 'not met'}`;
  return `| Empty grade, ${name}, ${who} | ${Math.round(ours)} | ${Math.round(script)} | ${ratio.toFixed(2)} | ${verdict} | ${phases} |`;
}

async function main(): Promise<void> {
  if (process.argv[2] === 'snapshots') {
    const engine = await connectEngine({ env: process.env });
    console.log(await timeSnapshots(engine, 'debian:bookworm-slim'));
    engine.close();
    return;
  }
  if (process.argv[2] === 'grades') {
    console.log(JSON.stringify(await timeGrades()));
    return;
  }
  const engine = await connectEngine({ env: process.env });
  const info = await engine.info();
  const own = await timeGrades();
  const member = await timeGradesAsMember();
  const who = process.getuid?.() === 0 ? 'root' : 'not root';
  const lines = [
    ...own.map((line, i) => row(line, who, cases[i]?.limit)),
    ...(member ?? []).map((line) => row(line, 'not root', undefined)),
  ];
  for (const line of lines) console.log(line);
  const failed = own.some(({ ratio }, i) => ratio > (cases[i]?.limit ?? Number.POSITIVE_INFINITY));
  const times = await timeFsChannel(engine, { image: 'debian:bookworm-slim', rounds: 200 });
  const channel = Object.entries(times).map(
    ([what, ms]) =>
      `| ${what} | ${ms.toFixed(1)} | ${what === 'dockerExec' ? '' : (ms / times.dockerExec).toFixed(3)} |`,
  );
  for (const line of channel) console.log(line);
  const snapshots = await timeSnapshots(engine, 'debian:bookworm-slim');
  const snapshotLines = snapshots.map(({ files, first, fiveChanged, unchanged, byEngine, limit }) => {
    const verdict = `<= ${limit} ${fiveChanged <= limit ? 'met' : 'not met'}`;
    return `| ${files} files, ${files / 100} MB | ${Math.round(fiveChanged)} | ${verdict} | ${Math.round(unchanged)} | ${Math.round(first)} | ${Math.round(byEngine)} |`;
  });
  for (const line of snapshotLines) console.log(line);
  const load = loadavg()
    .map((value) => value.toFixed(1))
    .join(' ');
  const text = `# Bench results

Written by \`npm run bench\`. Medians of ${runs} pairs in one run; the ratio is the median of the pairs' ratios. Ours is the whole
grade with its evidence (arrival check, network probe, changed files, altered tests, processes left); the script is
\`docker create/start/cp/cp/exec/cp/rm\` with the docker command and checks nothing. Root beside the engine reads a dead container
from its layer; one who has only the socket asks the engine, whose list of changed files compares whole trees.

Engine ${info.version}, ${cpus().length} cores, load ${load}.

| what | ours ms | script ms | ratio | limit | our phases, ms |
|---|---|---|---|---|---|
${lines.join('\n')}

The file channel against one \`docker exec CONTAINER true\` in the same run, medians; \`list2000Cold\` opens its channel first.

| what | ms | ratio to docker exec |
|---|---|---|
${channel.join('\n')}

A snapshot over the file channel of random files of 10 KB, medians of 7, the first one, which reads everything, and
one by the engine's tar, which always reads everything and is what a grade's freeze waits for.

| what | five files changed, ms | limit | nothing changed, ms | first, ms | by the engine's tar, ms |
|---|---|---|---|---|---|
${snapshotLines.join('\n')}
`;
  await writeFile(path.join(process.cwd(), 'test', 'bench', 'results.md'), text);
  if (failed || snapshots.some(({ fiveChanged, limit }) => fiveChanged > limit)) process.exitCode = 1;
}

void main();

import { writeFile } from 'node:fs/promises';
import { cpus, loadavg } from 'node:os';
import path from 'node:path';
import { connectEngine } from '#core/container/connect.ts';
import type { PhaseName } from '#core/grading/types.ts';
import { makeEmptyGrade, timeOurs, timeScript } from './emptyGrade.ts';
import { timeFsChannel } from './fsChannel.ts';

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

async function main(): Promise<void> {
  const engine = await connectEngine({ env: process.env });
  const info = await engine.info();
  const lines: string[] = [];
  let failed = false;
  for (const [index, { name, files, bytes, limit }] of cases.entries()) {
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
      const ratio = median(ours.map((value, i) => value / (script[i] ?? value)));
      const verdict = limit === undefined ? '' : ratio <= limit ? 'met' : 'not met';
      failed ||= verdict === 'not met';
      const byPhase = [...phases]
        .map(([phase, values]) => `${phase} ${Math.round(median(values))}`)
        .join(', ');
      lines.push(
        `| Empty grade, ${name} | ${Math.round(median(ours))} | ${Math.round(median(script))} | ${ratio.toFixed(2)} | ${limit === undefined ? '' : `<= ${limit.toFixed(1)} ${verdict}`} | ${byPhase} |`,
      );
      console.log(lines.at(-1));
    } finally {
      await bench.dispose();
    }
  }
  const times = await timeFsChannel(engine, { image: 'debian:bookworm-slim', rounds: 200 });
  const channel = Object.entries(times).map(
    ([what, ms]) =>
      `| ${what} | ${ms.toFixed(1)} | ${what === 'dockerExec' ? '' : (ms / times.dockerExec).toFixed(3)} |`,
  );
  for (const line of channel) console.log(line);
  const load = loadavg()
    .map((value) => value.toFixed(1))
    .join(' ');
  const text = `# Bench results

Written by \`npm run bench\`. Medians of ${runs} pairs in one run; the ratio is the median of the pairs' ratios. Ours is the whole
grade with its evidence (arrival check, network probe, changed files, altered tests, processes left); the script is
\`docker create/start/cp/cp/exec/cp/rm\` with the docker command and checks nothing.

Engine ${info.version}, ${cpus().length} cores, load ${load}, run as ${process.getuid?.() === 0 ? 'root (a dead container is read from its layer)' : 'a user without access to the layers'}.

| what | ours ms | script ms | ratio | limit | our phases, ms |
|---|---|---|---|---|---|
${lines.join('\n')}

The file channel against one \`docker exec CONTAINER true\` in the same run, medians; \`list2000Cold\` opens its channel first.

| what | ms | ratio to docker exec |
|---|---|---|
${channel.join('\n')}
`;
  await writeFile(path.join(process.cwd(), 'test', 'bench', 'results.md'), text);
  if (failed) process.exitCode = 1;
}

void main();

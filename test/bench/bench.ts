import { readFile, writeFile } from 'node:fs/promises';
import { cpus, loadavg } from 'node:os';
import path from 'node:path';
import { connectEngine } from '#core/container/connect.ts';
import type { ContainerEngine } from '#core/container/engine.ts';
import { diskOf } from './disk.ts';
import { timeEvidence } from './evidence.ts';
import { timeFsChannel } from './fsChannel.ts';
import {
  gradeRow,
  isWithin,
  largeCases,
  memberArgument,
  smallCases,
  timeGrades,
  timeGradesAsMember,
} from './grades.ts';
import { recorderSection } from './recorder.ts';
import { timeSnapshots } from './snapshots.ts';
import { verdictOf } from './statistics.ts';
import { timeThroughput } from './throughput.ts';

const image = 'debian:bookworm-slim';
const who = process.getuid?.() === 0 ? 'root' : 'not root';
const throughputLimit = 1.6;

interface Section {
  readonly text: string;
  readonly isMet: boolean;
}

type Part = (engine: ContainerEngine) => Promise<Section>;

const gradeTable = `| what | pairs | ours ms | script ms | ratio | limit | our phases, ms |
|---|---|---|---|---|---|---|`;

const parts: Readonly<Record<string, Part>> = {
  async grades() {
    const own = await timeGrades(smallCases);
    const rows = own.map((line) => gradeRow(line, who, line.limit));
    const text = `Medians of the pairs in one run; the ratio is the median of the pairs' ratios. Ours is the whole grade with its evidence
(arrival check, network probe, changed files, altered tests, processes left); the script is
\`docker create/start/cp/cp/exec/cp/rm\` with the docker command and checks nothing.
Prepared: the container was started before, as in the editor after an edit that follows a grade; the script has no such thing.

${gradeTable}
${rows.join('\n')}`;
    return { text, isMet: own.every(isWithin) };
  },

  async member() {
    const rows = (await timeGradesAsMember()).map((line) => gradeRow(line, 'not root', undefined));
    const text = `The same by somebody who has the engine's socket and not its files: the engine lists what changed, and compares whole trees for
that.

${gradeTable}
${rows.join('\n')}`;
    return { text, isMet: true };
  },

  async large() {
    const lines = await timeGrades(largeCases);
    const text = `The same of large workspaces.

${gradeTable}
${lines.map((line) => gradeRow(line, who, line.limit)).join('\n')}`;
    return { text, isMet: lines.every(isWithin) };
  },

  async throughput(engine) {
    const lines = [await timeThroughput(engine, 1), await timeThroughput(engine, 2)];
    const rows = lines.map(({ atOnce, ours, script, ratio }) => {
      const verdict = verdictOf(ratio, atOnce === 2 ? throughputLimit : undefined, true);
      return `| ${atOnce} | ${Math.round(ours)} | ${Math.round(script)} | ${ratio.toFixed(2)} | ${verdict} |`;
    });
    const text = `Empty grades of 50 files a minute, by so many workers at once, against as many scripts; medians of 5 turns of 8 grades each.

| at once | ours | script | ratio | limit |
|---|---|---|---|---|
${rows.join('\n')}`;
    return { text, isMet: lines.every(({ atOnce, ratio }) => atOnce !== 2 || ratio >= throughputLimit) };
  },

  async evidence(engine) {
    const rows: string[] = [];
    for (const { name, files, bytes, isPrepared } of smallCases) {
      if (isPrepared) continue;
      const { look, watch, processes, altered, changes } = (await timeEvidence(
        engine,
        image,
        files,
        bytes,
      )) as {
        [step: string]: number;
      };
      const cells = [look, watch, processes, altered, changes].map((ms) => (ms ?? 0).toFixed(1));
      rows.push(`| ${name} | ${cells.join(' | ')} |`);
    }
    const text = `What a grade does for its evidence alone, each step by itself, medians of 7, ms: the look (arrival of every entry, network probe)
beyond the exec that it shares with the tests (of 31 pairs), the watch for want of memory, the list of processes left, the tests read again, the
changed files. The last two run while the container is being killed; a grade without evidence would be faster by less than their sum.

| what | look | watch | processes | altered tests | changes |
|---|---|---|---|---|---|
${rows.join('\n')}`;
    return { text, isMet: true };
  },

  async channel(engine) {
    const times = await timeFsChannel(engine, { image, rounds: 200 });
    const rows = Object.entries(times).map(
      ([what, ms]) =>
        `| ${what} | ${ms.toFixed(1)} | ${what === 'dockerExec' ? '' : (ms / times.dockerExec).toFixed(3)} |`,
    );
    const text = `The file channel against one \`docker exec CONTAINER true\` in the same run, medians; \`list2000Cold\` opens its channel first.

| what | ms | ratio to docker exec |
|---|---|---|
${rows.join('\n')}`;
    return { text, isMet: true };
  },

  async snapshots(engine) {
    const snapshots = await timeSnapshots(engine, image);
    const rows = snapshots.map(
      ({ files, first, fiveChanged, unchanged, byEngine, limit }) =>
        `| ${files} files, ${files / 100} MB | ${Math.round(fiveChanged)} | ${verdictOf(fiveChanged, limit)} | ${Math.round(unchanged)} | ${Math.round(first)} | ${Math.round(byEngine)} |`,
    );
    const text = `A snapshot over the file channel of random files of 10 KB, medians of 7, the first one, which reads everything, and
one by the engine's tar, which always reads everything and is what a grade's freeze waits for.

| what | five files changed, ms | limit | nothing changed, ms | first, ms | by the engine's tar, ms |
|---|---|---|---|---|---|
${rows.join('\n')}`;
    return { text, isMet: snapshots.every(({ fiveChanged, limit }) => fiveChanged <= limit) };
  },

  recorder: recorderSection,
};

const head = `# Bench results

Written by \`npm run bench\`, or \`npm run bench PART…\`, which writes those parts anew. On ext4 without a journal the disk is the
floor of large workspaces: each new file's inode is looked for behind all those that were freed in the last minutes, which takes
0.5 to 3 ms where a journal makes it 0.03 to 0.1 ms, for both sides alike.
`;

/** Puts sections into what is written of the others, in the order of `parts`; one is of a part and of a disk. */
function merge(before: string, written: ReadonlyMap<string, string>): string {
  const known = before
    .split(/^## /m)
    .slice(1)
    .map((section): [string, string] => {
      const end = section.indexOf('\n');
      return [section.slice(0, end), section.slice(end).trim()];
    });
  const order = Object.keys(parts);
  const rank = (title: string): number => order.indexOf(title.split(',')[0] ?? '');
  const sections = [...new Map([...known, ...written])].sort(([a], [b]) => rank(a) - rank(b));
  return head + sections.map(([title, text]) => `\n## ${title}\n\n${text}\n`).join('');
}

async function main(): Promise<void> {
  const names = process.argv.slice(2);
  if (names[0] === memberArgument) {
    console.log(JSON.stringify(await timeGrades(smallCases.filter(({ isPrepared }) => !isPrepared))));
    return;
  }
  const unknown = names.find((name) => !(name in parts));
  if (unknown !== undefined)
    throw new Error(`No part "${unknown}"; there are ${Object.keys(parts).join(', ')}.`);
  const engine = await connectEngine({ env: process.env });
  const { version, rootDir } = await engine.info();
  const disk = await diskOf(rootDir);
  const written = new Map<string, string>();
  for (const name of names.length > 0 ? names : Object.keys(parts)) {
    const before = loadavg()[0] ?? 0;
    const { text, isMet } = await (parts[name] as Part)(engine);
    const load = `load ${before.toFixed(1)} before, ${(loadavg()[0] ?? 0).toFixed(1)} after`;
    const title = `${name}, on ${disk}`;
    const section = `Engine ${version}, ${cpus().length} cores, ${load}.\n\n${text}`;
    console.log(`## ${title}\n\n${section}\n`);
    written.set(title, section);
    if (!isMet) process.exitCode = 1;
  }
  engine.close();
  const file = path.join(process.cwd(), 'test', 'bench', 'results.md');
  await writeFile(file, merge(await readFile(file, 'utf8'), written));
}

void main();

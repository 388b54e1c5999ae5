import type { ContainerEngine } from '#core/container/engine.ts';
import { type EmptyGrade, makeEmptyGrade, timeOurs, timeScript } from './emptyGrade.ts';
import { median } from './statistics.ts';

/** Grades of one measurement; each side's are run in turns. */
const grades = 8;
const rounds = 5;

export interface Throughput {
  readonly atOnce: number;
  /** Grades a minute. */
  readonly ours: number;
  readonly script: number;
  readonly ratio: number;
}

/** Empty grades of 50 files by so many workers, against as many scripts. */
export async function timeThroughput(engine: ContainerEngine, atOnce: number): Promise<Throughput> {
  const bench = await makeEmptyGrade(50, 4_000);
  let made = 1000;
  try {
    await timeOurs(bench, engine);
    await timeScript(bench, made++);
    const ours: number[] = [];
    const script: number[] = [];
    for (let i = 0; i < rounds; i++) {
      ours.push(await perMinute(atOnce, () => timeOurs(bench, engine)));
      script.push(await perMinute(atOnce, () => timeScript(bench as EmptyGrade, made++)));
    }
    return {
      ...{ atOnce, ours: median(ours), script: median(script) },
      ratio: median(ours.map((value, i) => value / (script[i] ?? value))),
    };
  } finally {
    await bench.dispose();
  }
}

async function perMinute(atOnce: number, grade: () => Promise<unknown>): Promise<number> {
  let left = grades;
  const start = performance.now();
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (left-- > 0) await grade();
    }),
  );
  return (grades * 60_000) / (performance.now() - start);
}

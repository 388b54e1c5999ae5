export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? (sorted[middle] ?? 0) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}

/** Milliseconds of each run. */
export async function timeEach(runs: number, action: () => Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i < runs; i++) {
    const start = performance.now();
    await action();
    times.push(performance.now() - start);
  }
  return times;
}

/** "met" or "not met", with the limit; nothing where there is none. */
export function verdictOf(value: number, limit: number | undefined, atLeast = false): string {
  if (limit === undefined) return '';
  const isMet = atLeast ? value >= limit : value <= limit;
  return `${atLeast ? '>=' : '<='} ${limit} ${isMet ? 'met' : 'not met'}`;
}

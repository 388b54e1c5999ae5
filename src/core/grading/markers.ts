/**
 * The lines by which a test.sh tells its phases, each on a line of its own on stdout:
 *
 *     ##e2e-swe phase=setup at=1764444444.123
 *     ##e2e-swe setup-exit=0
 *     ##e2e-swe phase=tests at=1764444450.456
 *
 * They change what is shown, never the verdict: the submission's setup.sh writes to the same stream.
 */
export interface Markers {
  /** Milliseconds of the setup phase; undefined when test.sh prints no markers. */
  readonly setupMs?: number;
  readonly setupExit?: number;
  /** Milliseconds from the start of the tests to `endedAt`. */
  readonly testsMs?: number;
}

const phaseLine = /^##e2e-swe phase=(setup|tests) at=(\d+(?:\.\d+)?)\s*$/gm;
const exitLine = /^##e2e-swe setup-exit=(\d+)\s*$/m;

/** True for a test.sh whose text prints our markers. */
export function printsMarkers(testScript: string): boolean {
  return testScript.includes('##e2e-swe phase=');
}

/** Reads the markers out of a run's output; `endedAt` is the run's end in epoch milliseconds of the same clock. */
export function readMarkers(output: string, endedAt: number): Markers {
  const at = new Map<string, number>();
  for (const [, phase, seconds] of output.matchAll(phaseLine))
    if (phase && !at.has(phase)) at.set(phase, Number(seconds) * 1000);
  const [setup, tests] = [at.get('setup'), at.get('tests')];
  const exit = exitLine.exec(output)?.[1];
  return {
    ...(setup === undefined ? {} : { setupMs: Math.max(0, (tests ?? endedAt) - setup) }),
    ...(exit === undefined ? {} : { setupExit: Number(exit) }),
    ...(tests === undefined ? {} : { testsMs: Math.max(0, endedAt - tests) }),
  };
}

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ReportFile } from '#core/report/readReports.ts';
import { readReports } from '#core/report/readReports.ts';
import type { Report, TestStatus } from '#core/report/types.ts';

const root = new URL('../../fixtures/report/', import.meta.url);

/** Bytes of a file under test/fixtures/report. */
export function fixture(path: string): Uint8Array {
  return readFileSync(fileURLToPath(new URL(path, root)));
}

export function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

export function reportFile(name: string, content: unknown): ReportFile {
  return { name, data: bytes(typeof content === 'string' ? content : JSON.stringify(content)) };
}

/** Reads one report given as its `results`. */
export function readResults(results: unknown): Report {
  return readReports([reportFile('ctrf.json', { results })]);
}

/** A minimal report of tests with the given statuses. */
export function reportOf(...statuses: readonly TestStatus[]): Report {
  return readResults({
    tool: { name: 'demo' },
    tests: statuses.map((status, index) => ({ name: `t${index}`, status })),
  });
}

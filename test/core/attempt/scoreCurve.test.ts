import { expect, test } from 'vitest';
import { applyLine, idleCutoffMs } from '#core/attempt/clock.ts';
import {
  type CurvePoint,
  chooseSnapshots,
  type ScoreCurve,
  timeSnapshots,
} from '#core/attempt/curvePoints.ts';
import { curveThemes, describeCurve, renderCurveSvg } from '#core/attempt/curveSvg.ts';
import { renderCurveCsv } from '#core/attempt/curveTable.ts';
import type { RecordEvent, RecordLine } from '#core/attempt/recordEvents.ts';
import type { SnapshotHead } from '#core/snapshot/types.ts';

const begin = Date.parse('2026-03-01T08:00:00.000Z');
const atMinute = (minute: number): string => new Date(begin + minute * 60_000).toISOString();

async function* record(events: readonly (readonly [minute: number, event: RecordEvent])[]) {
  for (const [n, [minute, event]] of events.entries())
    yield { n, utc: atMinute(minute), mono: 5_000 + minute * 60_000, ...event } as RecordLine;
}

function head(id: string, minute: number, parts: Partial<SnapshotHead> = {}): SnapshotHead {
  return {
    ...{ schemaVersion: 1, id, at: atMinute(minute), reason: 'save', source: 'container', roots: ['/app'] },
    ...{ tree: `tree-${id}`, entries: 1, bytes: 1, skipped: [], unstable: [], durationMs: 1 },
    ...parts,
  };
}

test('each snapshot has the clock of its own moment, whatever their order', async () => {
  const note = { kind: 'note', text: 'on it' } as const;
  const lines = record([
    [0, { kind: 'opened', boot: 'b', sleep: 'excluded', pid: 1 }],
    [0, { kind: 'container', how: 'started' }],
    [0, { kind: 'thawed' }],
    [1, note],
    [10, { kind: 'frozen', reason: 'pause' }],
    [20, { kind: 'thawed' }],
    [20, note],
    [21, { kind: 'frozen', reason: 'closed' }],
  ]);
  const heads = [head('d', 20.5), head('a', -5), head('c', 15), head('b', 2), head('e', 60)];
  const timed = await timeSnapshots(heads, lines, applyLine);
  const idleMinutes = idleCutoffMs / 60_000;
  expect(
    timed.map(({ head: { id }, clock }) => [id, clock.activeMs / 60_000, clock.unpausedMs / 60_000]),
  ).toEqual([
    ['a', 0, 0],
    ['b', 2, 2],
    ['c', 1 + idleMinutes, 10],
    ['d', 1.5 + idleMinutes, 10.5],
    ['e', 2 + idleMinutes, 11],
  ]);
});

test('a curve has the last snapshot of each stretch, the first and the last, none twice and none that is not whole', () => {
  const minutes = [0, 1, 9, 11, 19, 21, 44, 45];
  const timed = minutes.map((minute, i) => ({
    head: head(`s${i}`, minute, {
      ...(minute === 45 ? { tree: 'tree-s4' } : {}),
      ...(minute === 9 ? { skipped: [{ name: 'big', what: 'too-large', detail: '' }] } : {}),
    }),
    clock: { wallMs: 0, unpausedMs: 0, focusedMs: 0, activeMs: minute * 60_000, waitingMs: 0, idleMs: 0 },
  }));
  expect(chooseSnapshots(timed, 600_000).map(({ head: { id } }) => id)).toEqual(['s0', 's1', 's4', 's5']);
  expect(chooseSnapshots([], 600_000)).toEqual([]);
});

const point = (parts: Partial<CurvePoint>): CurvePoint => ({
  ...{ snapshot: 's', at: atMinute(0), activeMs: 0, unpausedMs: 0, wallMs: 0, verdict: 'unresolved' },
  ...{ passed: 0, reported: 12, reward: 0, by: 'curve', byContainer: false, dir: '/grades/1' },
  ...parts,
});

const curve: ScoreCurve = {
  ...{
    schemaVersion: 1,
    attempt: 'abc123',
    task: { name: 'a <b> & "c"\u0001', digest: 'sha256:1' },
    total: 12,
  },
  points: [
    point({ snapshot: 'one' }),
    point({ snapshot: 'two', activeMs: 30 * 60_000, passed: 5 }),
    point({
      snapshot: 'three',
      activeMs: 45 * 60_000,
      verdict: 'not graded',
      reason: 'timeout, "late"',
      reward: null,
    }),
    point({ snapshot: 'four', activeMs: 90 * 60_000, passed: 12, verdict: 'resolved', by: 'official' }),
  ],
};

test('the picture is the same each time, and says in words what it shows', () => {
  for (const theme of curveThemes) {
    const svg = renderCurveSvg(curve, theme);
    expect(renderCurveSvg(structuredClone(curve), theme)).toBe(svg);
    expect(svg).toContain('a &lt;b&gt; &amp; &quot;c&quot;\ufffd');
    // Well formed: every element is closed, in its order.
    const open: string[] = [];
    for (const [, slash, name, empty] of svg.matchAll(/<(\/?)([a-z]+)[^<>]*?(\/?)>/g))
      if (slash) expect(open.pop()).toBe(name);
      else if (!empty) open.push(name as string);
    expect(open).toEqual([]);
  }
  const light = renderCurveSvg(curve, 'light');
  expect(light).toContain('<polyline points="70,388 305.33,248 776,52" ');
  expect([light.match(/<circle /g)?.length, light.match(/<rect x/g)?.length]).toEqual([2, 1]);
  expect(light).toContain('>1 h 30 min</text>');
  expect(light).not.toMatch(/NaN|Infinity|undefined/);
  expect(describeCurve(curve)).toBe(
    'Passed tests of 12 expected tests at 4 moments. After 0 min of active time: 0 of 12 passed, unresolved. After 30 min of active time: 5 of 12 passed, unresolved. After 45 min of active time: not graded (timeout, "late"). After 1 h 30 min of active time: 12 of 12 passed, resolved, the official grade.',
  );
});

test('a curve without points, or of one moment, is a picture too', () => {
  for (const points of [[], [point({})], [point({ verdict: 'not graded' })]])
    expect(renderCurveSvg({ ...curve, total: null, points }, 'dark')).not.toMatch(
      /NaN|Infinity|undefined|polyline/,
    );
});

/** By WCAG 2. */
function contrast(a: string, b: string): number {
  const [light = 0, dark = 0] = [a, b]
    .map((colour) => {
      const [red = 0, green = 0, blue = 0] = [1, 3, 5]
        .map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255)
        .map((value) => (value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    })
    .toSorted((x, y) => y - x);
  return (light + 0.05) / (dark + 0.05);
}

test.each(curveThemes)('text, line and marks stand out from the background: %s', (theme) => {
  const svg = renderCurveSvg(curve, theme);
  const background = /<rect width="800" height="450" fill="(#\w{6})"/.exec(svg)?.[1] ?? '';
  const colours = ['text x', 'polyline', 'circle', 'rect x'].map((name) => {
    const at = name === 'text x' ? svg.indexOf('<g fill="') : svg.indexOf(`<${name}`);
    return [...svg.slice(at, svg.indexOf('>', at)).matchAll(/#\w{6}/g)].map(([colour]) => colour);
  });
  for (const all of colours)
    expect(Math.max(...all.map((colour) => contrast(colour, background)))).toBeGreaterThanOrEqual(
      theme === 'highContrast' ? 7 : 4.5,
    );
});

test('the table has a row a point, quoted where that is needed', () => {
  const [header, ...rows] = renderCurveCsv(curve).split('\r\n');
  expect(header).toBe(
    'snapshot,at,active_sec,unpaused_sec,wall_sec,passed,reported,total,reward,verdict,reason,by,source',
  );
  expect(rows).toEqual([
    `one,${atMinute(0)},0,0,0,0,12,12,0,unresolved,,curve,engine`,
    `two,${atMinute(0)},1800,0,0,5,12,12,0,unresolved,,curve,engine`,
    `three,${atMinute(0)},2700,0,0,,,12,,not graded,"timeout, ""late""",curve,engine`,
    `four,${atMinute(0)},5400,0,0,12,12,12,0,resolved,,official,engine`,
    '',
  ]);
});

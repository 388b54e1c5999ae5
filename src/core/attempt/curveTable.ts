import type { CurvePoint, ScoreCurve } from './curvePoints.ts';

const columns: Readonly<Record<string, (point: CurvePoint, curve: ScoreCurve) => string | number>> = {
  snapshot: ({ snapshot }) => snapshot,
  at: ({ at }) => at,
  active_sec: ({ activeMs }) => seconds(activeMs),
  unpaused_sec: ({ unpausedMs }) => seconds(unpausedMs),
  wall_sec: ({ wallMs }) => seconds(wallMs),
  passed: ({ passed, verdict }) => (verdict === 'not graded' ? '' : passed),
  reported: ({ reported, verdict }) => (verdict === 'not graded' ? '' : reported),
  total: (_, { total }) => total ?? '',
  reward: ({ reward }) => reward ?? '',
  verdict: ({ verdict }) => verdict,
  reason: ({ reason }) => reason ?? '',
  by: ({ by }) => by,
  source: ({ byContainer }) => (byContainer ? 'container' : 'engine'),
};

/** A row a point; RFC 4180. */
export function renderCurveCsv(curve: ScoreCurve): string {
  const rows = curve.points.map((point) => Object.values(columns).map((column) => column(point, curve)));
  return [Object.keys(columns), ...rows].map((row) => `${row.map(cell).join(',')}\r\n`).join('');
}

function cell(value: string | number): string {
  const text = String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function seconds(ms: number): number {
  return Math.round(ms / 100) / 10;
}

import type { CurvePoint, ScoreCurve } from './curvePoints.ts';

/** `highContrast`: white on black, with marks that need no colour. */
export const curveThemes = ['light', 'dark', 'highContrast'] as const;
export type CurveTheme = (typeof curveThemes)[number];

interface Palette {
  readonly background: string;
  readonly text: string;
  readonly grid: string;
  readonly line: string;
  readonly official: string;
  readonly missing: string;
}

/** Text and lines have 4.5:1 or more of their background, the grid less. */
const palettes: Readonly<Record<CurveTheme, Palette>> = {
  light: {
    ...{ background: '#ffffff', text: '#1f2328', grid: '#d8dee4' },
    ...{ line: '#0550ae', official: '#116329', missing: '#a40e26' },
  },
  dark: {
    ...{ background: '#1f1f1f', text: '#e6e6e6', grid: '#3d3d3d' },
    ...{ line: '#79c0ff', official: '#56d364', missing: '#ff8b85' },
  },
  highContrast: {
    ...{ background: '#000000', text: '#ffffff', grid: '#5a5a5a' },
    ...{ line: '#ffff00', official: '#ffffff', missing: '#ffffff' },
  },
};

const size = { width: 800, height: 450 };
const frame = { left: 70, right: 24, top: 52, bottom: 62 };
const inner = {
  width: size.width - frame.left - frame.right,
  height: size.height - frame.top - frame.bottom,
};
const maxTicks = 8;

/** The curve as an SVG document that needs nothing else; of one curve and theme always the same. */
export function renderCurveSvg(curve: ScoreCurve, theme: CurveTheme): string {
  const colours = palettes[theme];
  const endMs = Math.max(60_000, ...curve.points.map(({ activeMs }) => activeMs));
  const total = Math.max(1, curve.total ?? 0, ...curve.points.map(({ passed }) => passed));
  const x = (ms: number): number => round(frame.left + (ms / endMs) * inner.width);
  const y = (passed: number): number => round(frame.top + inner.height - (passed / total) * inner.height);
  const graded = curve.points.filter(({ verdict }) => verdict !== 'not graded');
  const line = graded.map(({ activeMs, passed }) => `${x(activeMs)},${y(passed)}`).join(' ');
  const title = `Passed tests over active time: ${curve.task.name}, attempt ${curve.attempt}`;
  const bottom = frame.top + inner.height;
  const text = (at: { x: number; y: number }, anchor: string, words: string): string =>
    `<text x="${at.x}" y="${at.y}" text-anchor="${anchor}">${escaped(words)}</text>`;
  const minutes = ticks(endMs / 60_000).map((value) => ({ value, at: x(value * 60_000) }));
  const counts = ticks(total).map((value) => ({ value, at: y(value) }));
  const right = size.width - frame.right;
  const grid = [
    ...minutes.map(({ at }) => `M${at} ${frame.top}V${bottom}`),
    ...counts.map(({ at }) => `M${frame.left} ${at}H${right}`),
  ];
  const labels = [
    ...minutes.map(({ value, at }) => text({ x: at, y: bottom + 20 }, 'middle', minutesText(value))),
    ...counts.map(({ value, at }) => text({ x: frame.left - 10, y: at + 4 }, 'end', String(value))),
    text({ x: frame.left + inner.width / 2, y: size.height - 16 }, 'middle', 'Active time'),
  ];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${size.width}" height="${size.height}" viewBox="0 0 ${size.width} ${size.height}" role="img" aria-labelledby="title description" font-family="system-ui, sans-serif" font-size="13">`,
    `<title id="title">${escaped(title)}</title>`,
    `<desc id="description">${escaped(describeCurve(curve))}</desc>`,
    `<rect width="${size.width}" height="${size.height}" fill="${colours.background}"/>`,
    `<path d="${grid.join('')}" stroke="${colours.grid}" fill="none"/>`,
    `<g fill="${colours.text}"><text x="${frame.left}" y="28" font-size="15">${escaped(shortened(title, 92))}</text>`,
    ...labels,
    `<text transform="translate(20 ${frame.top + inner.height / 2}) rotate(-90)" text-anchor="middle">Passed tests${curve.total === null ? '' : `, of ${curve.total}`}</text></g>`,
    `<path d="M${frame.left} ${frame.top}V${bottom}H${right}" fill="none" stroke="${colours.text}"/>`,
    ...(graded.length > 1
      ? [`<polyline points="${line}" fill="none" stroke="${colours.line}" stroke-width="2"/>`]
      : []),
    ...curve.points.map((point) =>
      markOf(point, { x: x(point.activeMs), y: y(point.passed) }, colours, bottom),
    ),
    '</svg>',
    '',
  ].join('\n');
}

/** A circle; a filled square for the official grade; a cross at the bottom where there is no grade. */
function markOf(point: CurvePoint, at: { x: number; y: number }, colours: Palette, bottom: number): string {
  const label = `<title>${escaped(describePoint(point))}</title>`;
  if (point.verdict === 'not graded')
    return `<path d="M${at.x - 5} ${bottom - 5}l10 10m0 -10l-10 10" stroke="${colours.missing}" stroke-width="2" fill="none">${label}</path>`;
  if (point.by === 'official')
    return `<rect x="${at.x - 5}" y="${at.y - 5}" width="10" height="10" fill="${colours.official}" stroke="${colours.background}">${label}</rect>`;
  return `<circle cx="${at.x}" cy="${at.y}" r="4.5" fill="${colours.background}" stroke="${colours.line}" stroke-width="2">${label}</circle>`;
}

/** What the picture shows, in words. */
export function describeCurve({ points, total }: ScoreCurve): string {
  if (points.length === 0) return 'No snapshot was graded.';
  const of = total === null ? '' : ` of ${total} expected tests`;
  return `Passed tests${of} at ${points.length} moments. ${points.map(describePoint).join(' ')}`;
}

export function describePoint({ activeMs, verdict, passed, reported, by, reason }: CurvePoint): string {
  const when = `After ${minutesText(Math.round(activeMs / 6_000) / 10)} of active time:`;
  if (verdict === 'not graded') return `${when} not graded${reason ? ` (${reason})` : ''}.`;
  const whose = by === 'curve' ? '' : by === 'official' ? ', the official grade' : ', an interim grade';
  return `${when} ${passed} of ${reported} passed, ${verdict}${whose}.`;
}

/** `45 min`, `1 h 30 min` */
function minutesText(minutes: number): string {
  const [hours, rest] = [Math.floor(minutes / 60), round(minutes % 60)];
  if (hours === 0) return `${rest} min`;
  return rest === 0 ? `${hours} h` : `${hours} h ${rest} min`;
}

/** Round numbers from 0 to the most. */
function ticks(most: number): number[] {
  const steps = [1, 2, 5, 10, 15, 20, 30, 60, 100, 120, 200, 240, 500, 1_000, 2_000, 5_000, 10_000];
  const step = steps.find((one) => most / one <= maxTicks) ?? Math.ceil(most / maxTicks);
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, i) => i * step);
}

function shortened(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

/** Also what no XML may hold. */
function escaped(text: string): string {
  const names: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
  return text
    .replace(/[\p{Cc}\p{Cs}\ufffe\uffff]/gu, '\ufffd')
    .replace(/[&<>"]/g, (character) => names[character] ?? character);
}

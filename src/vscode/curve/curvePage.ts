import { z } from 'zod';
import type { CurvePoint, ScoreCurve } from '#core/attempt/curvePoints.ts';
import { type CurveTheme, describeCurve, renderCurveSvg } from '#core/attempt/curveSvg.ts';
import { durationText } from '#vscode/record/clockStatus.ts';

/** What the page asks for; a PNG is drawn by it. */
export const curveMessage = z.discriminatedUnion('export', [
  z.object({ export: z.literal('svg') }),
  z.object({ export: z.literal('csv') }),
  z.object({ export: z.literal('png'), data: z.string().regex(/^data:image\/png;base64,[A-Za-z0-9+/=]+$/) }),
]);

export type CurveMessage = z.infer<typeof curveMessage>;

/** The page of a curve: the picture, the same as a table, and buttons. Nothing is loaded; our script alone runs. */
export function curvePage(curve: ScoreCurve, theme: CurveTheme, nonce: string): string {
  const policy = `default-src 'none'; img-src data:; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'`;
  const { attempt, task, total, points } = curve;
  const missing = points.filter(({ verdict }) => verdict === 'not graded').length;
  const notes = [
    `Graded afterwards in fresh containers, of snapshots of attempt ${attempt}; ${total === null ? 'how many tests there are is not known' : `${total} tests`}.`,
    ...(missing > 0
      ? [`${missing} could not be graded (a cross): make the curve again to try once more.`]
      : []),
  ];
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>Score curve</title>
<style nonce="${nonce}">${style}</style>
</head>
<body>
<h1>${escapeHtml(`Score curve of ${task.name}`)}</h1>
<p>${escapeHtml(notes.join(' '))}</p>
<div role="toolbar" aria-label="Export">
<button data-export="svg">Export SVG</button> <button data-export="png">Export PNG</button> <button data-export="csv">Export CSV</button>
</div>
<figure aria-label="${escapeHtml(describeCurve(curve))}">${renderCurveSvg(curve, theme)}</figure>
<table>
<caption>The points of the curve</caption>
<tr>${['Active', 'Unpaused', 'Passed', 'Verdict', 'Grade', 'Snapshot'].map((title) => `<th scope="col">${title}</th>`).join('')}</tr>
${points.map((point) => row(point, total)).join('\n')}
</table>
<script nonce="${nonce}">${script}</script>
</body>
</html>`;
}

function row(point: CurvePoint, total: number | null): string {
  const isGraded = point.verdict !== 'not graded';
  const cells = [
    durationText(point.activeMs),
    durationText(point.unpausedMs),
    isGraded ? `${point.passed} of ${total ?? point.reported}` : '–',
    point.reason === undefined ? point.verdict : `${point.verdict} (${point.reason})`,
    { curve: 'afterwards', official: 'official', interim: 'interim' }[point.by],
    point.snapshot,
  ];
  return `<tr>${cells.map((cell) => `<td>${escapeHtml(cell)}</td>`).join('')}</tr>`;
}

function escapeHtml(text: string): string {
  const names: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
  return text.replace(/[&<>"]/g, (character) => names[character] ?? character);
}

const style = `
body { padding: 0 1rem 1rem; color: var(--vscode-foreground); }
h1 { font-size: 1.3rem; font-weight: 600; }
figure { margin: 1rem 0; max-width: 900px; }
svg { width: 100%; height: auto; border: 1px solid var(--vscode-contrastBorder, transparent); }
table { border-collapse: collapse; }
caption { text-align: left; font-weight: 600; padding-bottom: .3rem; }
th, td { text-align: left; padding: .2rem 1.2rem .2rem 0; font-variant-numeric: tabular-nums; }
td:last-child { font-family: var(--vscode-editor-font-family); }
button { color: var(--vscode-button-foreground); background: var(--vscode-button-background); border: 1px solid var(--vscode-button-border, transparent); padding: .3rem .8rem; border-radius: 2px; cursor: pointer; }
button:hover { background: var(--vscode-button-hoverBackground); }
button:focus-visible { outline: 1px solid var(--vscode-focusBorder); outline-offset: 2px; }
@media (max-width: 600px) { th, td { padding-right: .6rem; } td:last-child { word-break: break-all; } }
`;

/** A PNG has twice as many dots each way. */
const script = `
const api = acquireVsCodeApi();
function drawPng() {
  const svg = document.querySelector('svg');
  const image = new Image();
  image.onload = () => {
    const canvas = document.createElement('canvas');
    canvas.width = 2 * svg.viewBox.baseVal.width;
    canvas.height = 2 * svg.viewBox.baseVal.height;
    canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height);
    api.postMessage({ export: 'png', data: canvas.toDataURL('image/png') });
  };
  image.src = 'data:image/svg+xml;charset=utf-8,' + encodeURIComponent(new XMLSerializer().serializeToString(svg));
}
for (const button of document.querySelectorAll('[data-export]'))
  button.addEventListener('click', () => {
    const format = button.dataset.export;
    if (format === 'png') drawPng();
    else api.postMessage({ export: format });
  });
`;

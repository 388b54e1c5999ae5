import path from 'node:path';
import type { CurvePoint, ScoreCurve } from '#core/attempt/curvePoints.ts';
import { type CurveTheme, curveThemes, describePoint, renderCurveSvg } from '#core/attempt/curveSvg.ts';
import { renderCurveCsv } from '#core/attempt/curveTable.ts';
import type { CurveEvent } from '#core/attempt/scoreCurve.ts';
import { writeFileAtomic } from '#core/base/files.ts';
import { type AttemptCommandContext, oneId } from './attemptContext.ts';
import { parseCommand, UsageError } from './context.ts';

const formats: Readonly<Record<string, (curve: ScoreCurve, theme: CurveTheme) => string>> = {
  '.svg': renderCurveSvg,
  '.csv': renderCurveCsv,
  '.json': (curve) => `${JSON.stringify(curve, null, 2)}\n`,
};

/** `e2e-swe attempt curve ID [--every MIN | --snapshots A,B…] [--out FILE.svg|.csv|.json] [--theme NAME] [--as-author]` */
export async function curveCommand(args: string[], context: AttemptCommandContext): Promise<number> {
  const { values, positionals } = parseCommand(args, {
    every: { type: 'string' },
    snapshots: { type: 'string' },
    out: { type: 'string' },
    theme: { type: 'string' },
    hardened: { type: 'boolean' },
    'as-author': { type: 'boolean' },
    'allow-host-env': { type: 'boolean' },
  });
  const id = oneId(positionals);
  if (values.every !== undefined && values.snapshots !== undefined)
    throw new UsageError('Say --every or --snapshots, not both.');
  const write = writerOf(values.out, themeOf(values.theme));
  const events = context.attempts.scoreCurve(
    id,
    {
      everyMinutes: minutesOf(values.every),
      snapshots: values.snapshots?.split(',').filter(Boolean),
      asAuthor: values['as-author'],
      hardened: values.hardened,
      allowHostEnv: () => Promise.resolve(values['allow-host-env'] ?? false),
    },
    context.signal,
  );
  let curve: ScoreCurve | undefined;
  for await (const event of events) {
    if (event.kind === 'curve') curve = event.curve;
    else context.stderr(progressOf(event));
  }
  if (!curve) throw new Error('The curve ended without a result.');
  if (write) await write(curve);
  else context.stdout(curve.points.map(rowOf(curve)).join(''));
  return 0;
}

function themeOf(name: string | undefined): CurveTheme {
  const theme = curveThemes.find((one) => one === (name ?? 'light'));
  if (!theme) throw new UsageError(`--theme is one of ${curveThemes.join(', ')}.`);
  return theme;
}

function minutesOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const minutes = Number(text);
  if (!Number.isFinite(minutes) || minutes <= 0)
    throw new UsageError('--every is a number of minutes above 0.');
  return minutes;
}

function writerOf(file: string | undefined, theme: CurveTheme) {
  if (file === undefined) return undefined;
  const format = formats[path.extname(file).toLowerCase()];
  if (!format)
    throw new UsageError(
      'The name after --out ends in .svg, .csv or .json; a PNG is made by the command "Score curve" of the editor.',
    );
  return (curve: ScoreCurve) => writeFileAtomic(path.resolve(file), format(curve, theme));
}

function progressOf(event: Exclude<CurveEvent, { kind: 'curve' }>): string {
  switch (event.kind) {
    case 'planned':
      return `${event.points} snapshots, ${event.known} of them graded already.\n`;
    case 'grading':
      return `Grading ${event.snapshot} (${event.index + 1} of ${event.points})…\n`;
    case 'grade':
      return event.event.kind === 'phase' ? `  ${event.event.title}…\n` : '';
    case 'point':
      return `  ${describePoint(event.point)}\n`;
  }
}

function rowOf({ total }: ScoreCurve) {
  return ({ snapshot, activeMs, passed, verdict, by }: CurvePoint): string => {
    const minutes = (activeMs / 60_000).toFixed(1).padStart(7);
    const score = verdict === 'not graded' ? '-' : `${passed}/${total ?? '?'}`;
    return `${snapshot}  ${minutes} min  ${score.padStart(9)}  ${verdict}${by === 'curve' ? '' : ` (${by})`}\n`;
  };
}

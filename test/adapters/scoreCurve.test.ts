import { expect, test } from 'vitest';
import type { ScoreCurve } from '#core/attempt/curvePoints.ts';
import { curveMessage, curvePage } from '#vscode/curve/curvePage.ts';

const hostile = `</svg></title><script>alert(1)</script>"'&\u2028`;

const curve: ScoreCurve = {
  ...{ schemaVersion: 1, attempt: 'a1', task: { name: hostile, digest: 'sha256:0' }, total: 4 },
  points: [
    {
      ...{
        snapshot: hostile,
        at: '2026-01-02T03:04:05.000Z',
        activeMs: 61_000,
        unpausedMs: 62_000,
        wallMs: 0,
      },
      ...{ verdict: 'not graded', reason: hostile, passed: 0, reported: 0, reward: null, by: 'curve' },
      ...{ byContainer: true, dir: '/d' },
    },
  ],
};

test('the page of a curve runs its own script alone, whatever names and reasons hold', () => {
  const page = curvePage(curve, 'dark', 'n0nce');
  expect(page.match(/<script/g)).toHaveLength(1);
  expect(page).toContain(`script-src 'nonce-n0nce'`);
  expect(page).toContain("default-src 'none'");
  expect(page).not.toContain('</svg></title>');
  expect(page.match(/<\/svg>/g)).toHaveLength(1);
  expect(page).toContain('<td>0:01:01</td><td>0:01:02</td><td>–</td>');
  expect(page).toContain('1 could not be graded (a cross)');
});

test('what the page asks for is checked', () => {
  expect(curveMessage.safeParse({ export: 'svg' }).success).toBe(true);
  expect(curveMessage.safeParse({ export: 'png', data: 'data:image/png;base64,AAAA' }).success).toBe(true);
  for (const message of [undefined, {}, { export: 'exe' }, { export: 'png', data: 'data:text/html,x' }])
    expect(curveMessage.safeParse(message).success).toBe(false);
});

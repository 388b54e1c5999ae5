import { describe, expect, test } from 'vitest';
import { geometricMean, median, studentQuantile975, wilsonInterval } from '#core/attempt/statistics.ts';

describe("Wilson's interval", () => {
  // 81 of 263, 15 of 148, 0 of 20 and 1 of 29: Newcombe 1998, table I, method 3.
  test.each([
    [0, 0, undefined, undefined],
    [0, 10, 0, 0.2775],
    [1, 1, 0.2065, 1],
    [5, 10, 0.2366, 0.7634],
    [8, 10, 0.4902, 0.9433],
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ])('%i of %i', (successes, trials, low, high) => {
    const interval = wilsonInterval(successes, trials);
    if (low === undefined || high === undefined) expect(interval).toBeUndefined();
    else {
      expect(interval?.low).toBeCloseTo(low, 4);
      expect(interval?.high).toBeCloseTo(high, 4);
    }
  });
});

// Printed tables of Student's t, two-sided 95 %.
test.each([
  [1, 12.7062],
  [2, 4.3027],
  [3, 3.1824],
  [4, 2.7764],
  [5, 2.5706],
  [10, 2.2281],
  [29, 2.0452],
  [30, 2.0423],
  [100, 1.984],
  [1_000, 1.9623],
])('the t quantile of %i degrees of freedom', (freedom, quantile) => {
  expect(studentQuantile975(freedom)).toBeCloseTo(quantile, 4);
});

describe('the geometric mean', () => {
  test('of known values, with its interval on the logarithms', () => {
    expect(geometricMean([])).toBeUndefined();
    const one = geometricMean([5]);
    expect(one?.mean).toBeCloseTo(5, 12);
    expect(one?.interval).toBeUndefined();
    // Logarithms 0, ln 10, ln 100: deviation ln 10, half width 4.3027 * ln 10 / sqrt 3.
    const three = geometricMean([1, 10, 100]);
    expect(three?.mean).toBeCloseTo(10, 10);
    expect(three?.interval?.low).toBeCloseTo(10 / 10 ** (4.302653 / Math.sqrt(3)), 6);
    expect(three?.interval?.high).toBeCloseTo(10 * 10 ** (4.302653 / Math.sqrt(3)), 2);
    expect(geometricMean([7, 7, 7])?.interval?.high).toBeCloseTo(7, 10);
  });

  test.each([0, -1, Number.NaN])('of %d is none', (value) => {
    expect(() => geometricMean([1, value])).toThrow(RangeError);
  });
});

test.each([
  [[], undefined],
  [[3], 3],
  [[4, 1], 2.5],
  [[9, 1, 2], 2],
])('the median of %o', (values, middle) => {
  expect(median(values)).toBe(middle);
});

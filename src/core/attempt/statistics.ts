/** Interval estimates for few observations. Levels are 95 %. */

export interface Interval {
  readonly low: number;
  readonly high: number;
}

/** The quantile of the normal distribution at 0.975. */
const z975 = 1.959963984540054;

/**
 * Wilson's score interval of a proportion, without continuity correction; undefined for no trials. Source: Wilson 1927;
 * Brown, Cai and DasGupta 2001, equation 4.
 */
export function wilsonInterval(successes: number, trials: number): Interval | undefined {
  if (trials === 0) return undefined;
  const rate = successes / trials;
  const z2 = z975 ** 2;
  const centre = (rate + z2 / (2 * trials)) / (1 + z2 / trials);
  const half = (z975 / (1 + z2 / trials)) * Math.sqrt((rate * (1 - rate)) / trials + z2 / (4 * trials ** 2));
  return {
    low: successes === 0 ? 0 : centre - half,
    high: successes === trials ? 1 : centre + half,
  };
}

export interface GeometricMean {
  /** Of how many values. */
  readonly n: number;
  readonly mean: number;
  /** Of the mean; undefined for fewer than two values. */
  readonly interval: Interval | undefined;
}

/**
 * The geometric mean, and Student's interval of it on the logarithms (the mean of a log-normal time's median; METR takes
 * the geometric mean of successful times). Undefined for no values. Errors: `RangeError` for a value that is not positive.
 */
export function geometricMean(values: readonly number[]): GeometricMean | undefined {
  const n = values.length;
  if (n === 0) return undefined;
  if (values.some((value) => !(value > 0))) throw new RangeError('A geometric mean is of positive values.');
  const logs = values.map(Math.log);
  const mean = sum(logs) / n;
  if (n === 1) return { n, mean: Math.exp(mean), interval: undefined };
  const deviation = Math.sqrt(sum(logs.map((log) => (log - mean) ** 2)) / (n - 1));
  const half = (studentQuantile975(n - 1) * deviation) / Math.sqrt(n);
  return { n, mean: Math.exp(mean), interval: { low: Math.exp(mean - half), high: Math.exp(mean + half) } };
}

/** The quantile at 0.975 of Student's t with so many degrees of freedom (1 or more), by bisection of its distribution. */
export function studentQuantile975(freedom: number): number {
  let [low, high] = [0, 13];
  for (let i = 0; i < 80; i++) {
    const middle = (low + high) / 2;
    if (studentDistribution(middle, freedom) < 0.975) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/**
 * P(T <= t) for t >= 0 and a whole number of degrees of freedom. Source: Abramowitz and Stegun, 26.7.3 and 26.7.4, which
 * are finite sums.
 */
function studentDistribution(t: number, freedom: number): number {
  const angle = Math.atan(t / Math.sqrt(freedom));
  const cos2 = Math.cos(angle) ** 2;
  const isOdd = freedom % 2 === 1;
  let term = isOdd ? Math.cos(angle) : 1;
  let total = freedom === 1 ? 0 : term;
  for (let k = isOdd ? 3 : 2; k <= freedom - 2; k += 2) {
    term *= (cos2 * (k - 1)) / k;
    total += term;
  }
  const within = isOdd ? (2 / Math.PI) * (angle + Math.sin(angle) * total) : Math.sin(angle) * total;
  return (1 + within) / 2;
}

/** The middle value, or the mean of the two; undefined for none. */
export function median(values: readonly number[]): number | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  const [below, above] = [sorted[Math.ceil(sorted.length / 2) - 1], sorted[Math.floor(sorted.length / 2)]];
  return below === undefined || above === undefined ? undefined : (below + above) / 2;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

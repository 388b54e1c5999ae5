/** Makes the id of the next test of a grade; `report` is the name of the file that lists it. */
export type IdMaker = (report: string, suite: readonly string[], name: string) => string;

/**
 * Makes ids for the tests of one grade: the same test gets the same id in every grade whose report lists it in the
 * same place among its namesakes. An id is `t`, 16 hexadecimal digits and, from the second namesake on, `-2`, `-3`, …
 * It is unique within the maker even where two names have one hash.
 */
export function createIdMaker(): IdMaker {
  const seen = new Map<string, number>();
  return (report, suite, name) => {
    const hash = hashTest(report, suite, name);
    const occurrence = (seen.get(hash) ?? 0) + 1;
    seen.set(hash, occurrence);
    return occurrence === 1 ? `t${hash}` : `t${hash}-${occurrence}`;
  };
}

/** The two halves of the hash that is being made: reused, since 100,000 tests are hashed in one go. */
const state = { high: 0, low: 0 };

/** 64 bits by cyrb53's mixing; no defence against made collisions, which only cost stability. */
function hashTest(report: string, suite: readonly string[], name: string): string {
  state.high = 0xdeadbeef;
  state.low = 0x41c6ce57;
  add(report);
  for (const part of suite) add(part);
  add(name);
  let { high, low } = state;
  high = Math.imul(high ^ (high >>> 16), 0x85ebca6b) ^ Math.imul(low ^ (low >>> 13), 0xc2b2ae35);
  low = Math.imul(low ^ (low >>> 16), 0x85ebca6b) ^ Math.imul(high ^ (high >>> 13), 0xc2b2ae35);
  return hex(high) + hex(low);
}

/** Two UTF-16 units a step, then the length, so that the border between two texts counts. */
function add(text: string): void {
  let { high, low } = state;
  const length = text.length;
  for (let index = 0; index < length; index += 2) {
    // Behind an odd end stands NaN, which the shift makes 0.
    const units = text.charCodeAt(index) | (text.charCodeAt(index + 1) << 16);
    high = Math.imul(high ^ units, 0x9e3779b1);
    low = Math.imul(low ^ units, 0x5f356495);
    high ^= high >>> 15;
    low ^= low >>> 13;
  }
  state.high = Math.imul(high ^ length, 0x9e3779b1);
  state.low = Math.imul(low ^ length, 0x5f356495);
}

function hex(half: number): string {
  return (half >>> 0).toString(16).padStart(8, '0');
}

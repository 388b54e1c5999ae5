/** Character classes: reading their items and matching characters. */

/**
 * @typedef {{type: 'range', from: number, to: number}} RangeItem
 * @typedef {{type: 'set', name: 'd'|'w'|'s'}} SetItem
 * @typedef {{type: 'property', name: string}} PropertyItem
 * @typedef {RangeItem | SetItem | PropertyItem} ClassItem
 */

/** @type {Record<string, [number, number][]>} */
const SETS = {
  d: [[0x30, 0x39]],
  w: [[0x30, 0x39], [0x41, 0x5a], [0x5f, 0x5f], [0x61, 0x7a]],
  s: [[0x09, 0x0a], [0x0d, 0x0d], [0x20, 0x20]],
};

const CATEGORIES = new Set(
  ('L Lu Ll Lt Lm Lo M Mn Mc Me N Nd Nl No P Pc Pd Ps Pe Pi Pf Po ' +
    'S Sm Sc Sk So Z Zs Zl Zp C Cc Cf Cs Co Cn').split(' '),
);

/** @param {string} name */
export function isCategory(name) {
  return CATEGORIES.has(name);
}

/**
 * A function that tells whether a code point belongs to the class.
 * @param {{negated: boolean, items: ClassItem[]}} node
 * @returns {(codePoint: number) => boolean}
 */
export function compileClass({ negated, items }) {
  /** @type {[number, number][]} */
  const ranges = [];
  /** @type {RegExp[]} */
  const properties = [];
  for (const item of items) {
    if (item.type === 'range') ranges.push([item.from, item.to]);
    else if (item.type === 'set') ranges.push(...SETS[item.name]);
    else properties.push(new RegExp(`^\\p{${item.name}}$`, 'u'));
  }
  /** @param {number} codePoint */
  const decide = (codePoint) => {
    for (const [from, to] of ranges) {
      if (codePoint >= from && codePoint <= to) return !negated;
    }
    if (properties.length > 0) {
      const character = String.fromCodePoint(codePoint);
      if (properties.some((property) => property.test(character))) return !negated;
    }
    return negated;
  };
  const ascii = Array.from({ length: 128 }, (_, codePoint) => decide(codePoint));
  return (codePoint) => (codePoint < 128 ? ascii[codePoint] : decide(codePoint));
}

/**
 * Values that parsing yields: ints are BigInts, objects are Maps, so that their
 * keys keep the order in which they were set.
 *
 * @typedef {null | boolean | bigint | number | string | Value[] | Map<string, Value>} Value
 */


/**
 * JSON text, on one line or indented by two spaces.
 * @param {Value} value
 * @param {boolean} compact
 */
export function toJson(value, compact) {
  return compact ? compactJson(value) : prettyJson(value, '');
}

/** @param {null | boolean | bigint | number | string} value */
function scalarJson(value) {
  return typeof value === 'bigint' ? value.toString() : JSON.stringify(value);
}

/** @param {Value} value @returns {string} */
function compactJson(value) {
  if (Array.isArray(value)) return `[${value.map(compactJson).join(',')}]`;
  if (value instanceof Map) {
    const members = Array.from(value, ([key, member]) => `${JSON.stringify(key)}:${compactJson(member)}`);
    return `{${members.join(',')}}`;
  }
  return scalarJson(value);
}

/** @param {Value} value @param {string} indent @returns {string} */
function prettyJson(value, indent) {
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]';
    return `[\n${value.map((element) => inner + prettyJson(element, inner)).join(',\n')}\n${indent}]`;
  }
  if (value instanceof Map) {
    if (value.size === 0) return '{}';
    const members = Array.from(value, ([key, member]) => `${inner}${JSON.stringify(key)}: ${prettyJson(member, inner)}`);
    return `{\n${members.join(',\n')}\n${indent}}`;
  }
  return scalarJson(value);
}

/**
 * Equality; numbers compare by value, the order of keys does not matter.
 * @param {Value} a
 * @param {Value} b
 * @returns {boolean}
 */
export function equalValues(a, b) {
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    return a.every((element, index) => equalValues(element, b[index]));
  }
  if (a instanceof Map) {
    if (!(b instanceof Map) || a.size !== b.size) return false;
    return Array.from(a).every(([key, member]) => b.has(key) && equalValues(member, /** @type {Value} */ (b.get(key))));
  }
  // biome-ignore lint/suspicious/noDoubleEquals: compares a bigint with a number by value
  if (isNumber(a) && isNumber(b)) return a == b;
  return a === b;
}

/** @param {Value} value @returns {value is bigint | number} */
export function isNumber(value) {
  return typeof value === 'bigint' || typeof value === 'number';
}

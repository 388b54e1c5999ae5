/** Canonical text of strings and names. */

/** @type {Record<string, string>} */
const SHORT = { '\n': '\\n', '\t': '\\t', '\r': '\\r' };

/**
 * Replaces control characters by escapes.
 * @param {string} text
 */
function escapeControls(text) {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters meant
  return text.replace(/[\u0000-\u001f\u007f]/g, (character) => {
    return SHORT[character] ?? `\\u{${character.charCodeAt(0).toString(16).toUpperCase()}}`;
  });
}

/**
 * A string literal of the grammar language.
 * @param {string} text
 */
export function quote(text) {
  return `"${escapeControls(text.replace(/[\\"]/g, '\\$&'))}"`;
}

/**
 * One character inside of a class.
 * @param {number} codePoint
 */
export function quoteInClass(codePoint) {
  const character = String.fromCodePoint(codePoint);
  return escapeControls(/[\\\]^-]/.test(character) ? `\\${character}` : character);
}

/** @param {string} text */
export function isName(text) {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(text);
}

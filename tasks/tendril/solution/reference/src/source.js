/** Texts with a label, whose positions can be shown as line and column. */

import { readFileSync } from 'node:fs';
import { TendrilError } from './errors.js';

export class Source {
  /**
   * @param {string} label how the text is called in messages
   * @param {string} text
   */
  constructor(label, text) {
    this.label = label;
    this.text = text.startsWith('\uFEFF') ? text.slice(1) : text;
    /** @type {number[] | null} */
    this.lineStarts = null;
    /** @type {Uint32Array | null | undefined} */
    this.counts = undefined;
  }

  /**
   * Number of characters (code points) before a string index.
   * @param {number} index
   */
  offset(index) {
    if (this.counts === undefined) this.counts = countCodePoints(this.text);
    return this.counts === null ? index : /** @type {number} */ (this.counts[index]);
  }

  /**
   * Line and column, both from 1.
   * @param {number} index
   */
  position(index) {
    if (this.lineStarts === null) {
      this.lineStarts = [0];
      for (let at = this.text.indexOf('\n'); at >= 0; at = this.text.indexOf('\n', at + 1)) {
        this.lineStarts.push(at + 1);
      }
    }
    let low = 0;
    let high = this.lineStarts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.lineStarts[middle] <= index) low = middle;
      else high = middle - 1;
    }
    const column = this.offset(index) - this.offset(this.lineStarts[low]) + 1;
    return { line: low + 1, column };
  }

  /** @param {number} index */
  lineColumn(index) {
    const { line, column } = this.position(index);
    return `${line}:${column}`;
  }

  /**
   * @param {import('./errors.js').Kind} kind
   * @param {number} index
   * @param {string} message
   */
  error(kind, index, message) {
    return new TendrilError(kind, `${this.label}:${this.lineColumn(index)}`, message);
  }
}

/**
 * For texts beyond the Basic Multilingual Plane: code points before each index.
 * @param {string} text
 */
function countCodePoints(text) {
  if (!/[\uD800-\uDBFF]/.test(text)) return null;
  const counts = new Uint32Array(text.length + 1);
  let count = 0;
  for (let index = 0; index < text.length; ) {
    const width = /** @type {number} */ (text.codePointAt(index)) > 0xffff ? 2 : 1;
    counts[index] = count;
    if (width === 2) counts[index + 1] = count;
    index += width;
    count++;
  }
  counts[text.length] = count;
  return counts;
}

/**
 * The text of a file (or of a file descriptor), which must be UTF-8.
 * @param {string | number} path
 * @param {string} label
 */
export function readSource(path, label) {
  const bytes = readFileSync(path);
  try {
    return new Source(label, new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    throw new Error(`${label} is not UTF-8`);
  }
}

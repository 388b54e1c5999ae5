/** Errors that a user can cause, their kinds and exit statuses. */

/** @typedef {'syntax'|'name'|'grammar'|'usage'|'parse'|'action'} Kind */

/** @type {Record<Kind, number>} */
export const EXIT_STATUS = { syntax: 1, name: 1, grammar: 1, usage: 2, parse: 3, action: 4 };

/** Exit status of `test` when a test of the grammar fails. */
export const TESTS_FAILED = 5;

export class TendrilError extends Error {
  /**
   * @param {Kind} kind
   * @param {string} place what stands before the first `: `
   * @param {string} message
   */
  constructor(kind, place, message) {
    super(message);
    this.kind = kind;
    this.place = place;
  }

  toString() {
    return `${this.place}: ${this.kind} error: ${this.message}`;
  }
}

/** Several errors that are reported together; the first decides the exit status. */
export class ErrorList extends Error {
  /** @param {TendrilError[]} errors */
  constructor(errors) {
    super(errors.map(String).join('\n'));
    this.errors = errors;
  }
}

/** @param {string} message */
export function usageError(message) {
  return new TendrilError('usage', 'tendril', message);
}

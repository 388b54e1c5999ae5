/** The outline of the rules that took part in a match. */

import { quote } from './quote.js';

/**
 * @param {import('./engine.js').MatchNode} root
 * @param {import('./source.js').Source} source the text that was matched
 * @returns {string}
 */
export function outline(root, source) {
  /** @type {string[]} */
  const lines = [];
  /** @param {import('./engine.js').MatchNode} node @param {string} indent */
  const visit = (node, indent) => {
    let inner = indent;
    if (node.rule !== null) {
      const place = `${source.lineColumn(node.start)}-${source.lineColumn(node.end)}`;
      const text = node.rule.token ? ` ${quote(source.text.slice(node.start, node.end))}` : '';
      lines.push(`${indent}${node.rule.name} ${place}${text}`);
      if (node.rule.token) return;
      inner += '  ';
    }
    for (const child of node.children) visit(child, inner);
  };
  visit(root, '');
  return `${lines.join('\n')}\n`;
}

/** Canonical text of expressions and templates. */

import { isName, quote, quoteInClass } from './quote.js';

/** @param {import('./ast.js').Expression} node @returns {string} */
export function printExpression(node) {
  switch (node.type) {
    case 'choice':
      return node.alternatives.map(printExpression).join(' | ');
    case 'sequence': {
      const items = node.items.map(printExpression).join(' ');
      return node.action === null ? items : `${items} -> ${printTemplate(node.action)}`;
    }
    case 'label':
      return `${node.name}${node.append ? '+' : ''}:${printExpression(node.operand)}`;
    case 'predicate':
      return `${node.negative ? '!' : '&'}${printExpression(node.operand)}`;
    case 'repeat':
      return printRepeat(node);
    case 'string':
      return quote(node.text) + (node.insensitive ? 'i' : '');
    case 'class':
      return `[${node.negated ? '^' : ''}${node.items.map(printClassItem).join('')}]`;
    case 'any':
      return '.';
    case 'call':
      return node.args.length === 0 ? node.name : `${node.name}(${node.args.map(printExpression).join(', ')})`;
    case 'group':
      return `(${printExpression(node.body)})`;
    case 'capture':
      return `<${printExpression(node.body)}>`;
    case 'backreference':
      return `=${node.name}`;
    case 'fail':
      return `fail ${quote(node.message)}`;
    case 'empty':
      return '()';
  }
}

/** @param {import('./ast.js').Repeat} node */
function printRepeat(node) {
  let suffix = /** @type {string} */ (node.form);
  if (node.form === '{}') {
    const upper = node.max === Number.POSITIVE_INFINITY ? '' : String(node.max);
    suffix = node.max === node.min ? `{${node.min}}` : `{${node.min},${upper}}`;
  }
  const text = printExpression(node.operand) + suffix;
  if (node.separator === null) return text;
  return `${text} by ${printExpression(node.separator)}${node.trailing ? ' trailing' : ''}`;
}

/** @param {import('./classes.js').ClassItem} item */
function printClassItem(item) {
  if (item.type === 'set') return `\\${item.name}`;
  if (item.type === 'property') return `\\p{${item.name}}`;
  const from = quoteInClass(item.from);
  return item.from === item.to ? from : `${from}-${quoteInClass(item.to)}`;
}

/**
 * @param {import('./ast.js').Template | import('./ast.js').Spread | import('./ast.js').Member} node
 * @returns {string}
 */
export function printTemplate(node) {
  switch (node.type) {
    case 'constant':
      return node.text;
    case 'variable':
      return `$${node.name}`;
    case 'span':
      return `@${node.name}`;
    case 'function':
      return `${node.name}(${node.args.map(printTemplate).join(', ')})`;
    case 'list':
      return `[${node.elements.map(printTemplate).join(', ')}]`;
    case 'object':
      return `{${node.members.map(printTemplate).join(', ')}}`;
    case 'spread':
      return `...${printTemplate(node.value)}`;
    case 'member':
      if (node.short) return `$${node.key}`;
      return `${isName(node.key) ? node.key : quote(node.key)}: ${printTemplate(node.value)}`;
  }
}

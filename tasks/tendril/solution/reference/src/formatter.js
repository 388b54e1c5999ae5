/** Canonical layout of whole grammar files, comments included. */

import { printExpression, printTemplate } from './printer.js';
import { quote } from './quote.js';

/**
 * @param {import('./ast.js').GrammarFile} file
 * @returns {string}
 */
export function formatGrammar(file) {
  const { source, statements } = file;
  /** @param {number} index */
  const lineOf = (index) => source.position(index).line;
  const comments = [...file.comments];
  let output = '';
  let previousLine = 0;

  /**
   * Starts a line, after a blank one if the source has one here.
   * @param {string} text
   * @param {number} first line of the source
   * @param {number} last line of the source
   */
  const element = (text, first, last) => {
    if (output !== '') output += previousLine > 0 && first - previousLine > 1 ? '\n\n' : '\n';
    output += text;
    previousLine = last;
  };

  for (const statement of statements) {
    while (comments.length > 0 && comments[0].start < statement.at) {
      const comment = comments[0];
      comments.shift();
      element(comment.text, lineOf(comment.start), lineOf(comment.start));
    }
    const first = lineOf(statement.at);
    const last = lineOf(statement.end - 1);
    const text = [];
    while (comments.length > 0 && comments[0].start < statement.end) text.push(comments.shift()?.text);
    text.push(formatStatement(statement));
    if (comments.length > 0 && lineOf(comments[0].start) === last && !hasStatementOnLine(file, statement, last, lineOf)) {
      text[text.length - 1] += ` ${comments.shift()?.text}`;
    }
    element(text.join('\n'), first, last);
  }
  for (const comment of comments) element(comment.text, lineOf(comment.start), lineOf(comment.start));
  return output === '' ? '' : `${output}\n`;
}

/**
 * Whether another statement starts on the line where this one ends; a comment
 * at the end of that line belongs to the last one.
 * @param {import('./ast.js').GrammarFile} file
 * @param {import('./ast.js').Statement} statement
 * @param {number} line
 * @param {(index: number) => number} lineOf
 */
function hasStatementOnLine(file, statement, line, lineOf) {
  const next = file.statements[file.statements.indexOf(statement) + 1];
  return next !== undefined && lineOf(next.at) === line;
}

/** @param {import('./ast.js').Statement} statement @returns {string} */
function formatStatement(statement) {
  switch (statement.type) {
    case 'use':
      return `use ${quote(statement.path)} as ${statement.alias};`;
    case 'skip':
      return `skip${formatBody(statement.body)}`;
    case 'word':
      return `word = ${printExpression(statement.body)};`;
    case 'test': {
      const start = `test ${statement.rule.name} ${quote(statement.input)}`;
      if (statement.value !== null) return `${start} => ${printTemplate(statement.value)};`;
      return `${start} fails${statement.position === null ? '' : ` ${statement.position}`};`;
    }
    case 'rule':
      return formatRule(statement);
  }
}

/** @param {import('./ast.js').Rule} rule */
function formatRule(rule) {
  let head = rule.token ? `token ${rule.name}` : rule.name;
  if (rule.parameters.length > 0) head += `(${rule.parameters.map((parameter) => parameter.name).join(', ')})`;
  if (rule.display !== null) head += ` ${quote(rule.display)}`;
  if (rule.operators === null) return head + formatBody(/** @type {import('./ast.js').Choice} */ (rule.body));
  const lines = [`${head} = operators ${printExpression(rule.operators.operand)} {`];
  for (const level of rule.operators.levels) {
    const action = level.action === null ? '' : ` -> ${printTemplate(level.action)}`;
    lines.push(`  ${level.kind} ${printExpression(level.operator)}${action};`);
  }
  return `${lines.join('\n')}\n};`;
}

/** @param {import('./ast.js').Choice} body */
function formatBody(body) {
  if (body.alternatives.length === 1) return ` = ${printExpression(body)};`;
  const [first, ...rest] = body.alternatives.map(printExpression);
  return [`\n  = ${first}`, ...rest.map((text) => `  | ${text}`), '  ;'].join('\n');
}

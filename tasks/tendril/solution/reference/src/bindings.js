/**
 * Rules with parameters exist once per combination of arguments. Arguments are
 * only names and strings, so the number of such instances is finite.
 *
 * @typedef {{string: import('./ast.js').StringNode} | {rule: import('./ast.js').Rule}} Binding
 */

/**
 * What a call calls, with the arguments bound.
 * @param {import('./ast.js').Argument} argument a call or an argument of one
 * @param {Binding[]} bindings of the parameters of the calling rule
 * @returns {Binding}
 */
export function bind(argument, bindings) {
  if (argument.type === 'string') return { string: argument };
  const target = /** @type {import('./ast.js').Target} */ (argument.target);
  return 'rule' in target ? target : bindings[target.parameter];
}

/**
 * @param {import('./ast.js').Rule} rule
 * @param {Binding[]} bindings
 */
export function instanceKey(rule, bindings) {
  const keys = bindings.map((binding) => {
    return 'rule' in binding ? binding.rule.id : JSON.stringify([binding.string.text, binding.string.insensitive]);
  });
  return `${rule.id}(${keys.join()})`;
}

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Analysis } from '../src/analysis.js';
import { Machine } from '../src/engine.js';
import { loadGrammar } from '../src/loader.js';
import { Shaper } from '../src/shape.js';
import { Source } from '../src/source.js';
import { toJson } from '../src/values.js';

/**
 * Loads and checks a grammar from text.
 * @param {string} text
 */
export function grammarOf(text) {
  const folder = mkdtempSync(join(tmpdir(), 'tendril-'));
  try {
    const path = join(folder, 'g.tdl');
    writeFileSync(path, text);
    const grammar = loadGrammar(path);
    const analysis = new Analysis(grammar);
    analysis.check();
    return { grammar, analysis };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * The compact JSON that a grammar makes of an input.
 * @param {string} grammarText
 * @param {string} input
 */
export function valueOf(grammarText, input) {
  const { grammar } = grammarOf(grammarText);
  const source = new Source('input', input);
  return toJson(new Shaper(source).value(new Machine(source).parse(grammar.startRule(undefined)), new Map()), true);
}

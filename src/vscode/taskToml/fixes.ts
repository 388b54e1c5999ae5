import { isDeepStrictEqual } from 'node:util';
import type { ParsedToml } from '#core/task/manifest.ts';
import type { FixInput, ParseToml, TomlFix } from './fixTypes.ts';
import { countFix, moveArtifacts } from './insertFixes.ts';
import { isEnvironment, type LegacyHint, legacyHints } from './legacyHints.ts';
import { TextLines } from './textLines.ts';
import { applyEdits, editsOverlap, removePair, type TomlEdit } from './tomlEdits.ts';
import { type Path, pathText, type TomlPair, type TomlTokens, tomlTokens } from './tomlTokens.ts';

/**
 * All fixes of a text. Each was tried: it is offered only if its diagnostic goes, no error comes, and Harbor's reading
 * stays where the fix says so.
 */
export function findFixes(text: string, parse: ParseToml): readonly TomlFix[] {
  const tokens = tomlTokens(text);
  const input: FixInput = { text, tokens, lines: new TextLines(text), parsed: parse(text), parse };
  const candidates = [
    ...legacyHints(text, tokens).map(ofHint),
    ...tokens.pairs.flatMap((pair) => ofPair(input, pair)),
    ...countFix(input),
  ];
  return candidates.filter((fix) => isSound(input, fix));
}

/** Of these fixes all that keep Harbor's reading and leave nothing to fill in, as one change. */
export function joinFixes(text: string, fixes: readonly TomlFix[], parse: ParseToml): readonly TomlEdit[] {
  const edits: TomlEdit[] = [];
  for (const fix of fixes.filter(isHarmless)) {
    if (!editsOverlap(edits, fix.edits)) edits.push(...fix.edits);
  }
  return edits.length > 0 && isSameReading(parse(text), parse(applyEdits(text, edits))) ? edits : [];
}

export function isHarmless(fix: TomlFix): boolean {
  return fix.keepsMeaning && fix.select === undefined;
}

function ofHint({ code, span, pair }: LegacyHint): TomlFix {
  if (code === 'legacy-version') {
    return {
      ...{ code, span, keepsMeaning: true },
      ...rename(pair, 'schema_version', 'Rename to schema_version'),
    };
  }
  const edits = [{ span: pair.value, text: '"streamable-http"' }];
  return { code, span, keepsMeaning: true, title: 'Write "streamable-http"', edits };
}

function ofPair(input: FixInput, pair: TomlPair): readonly TomlFix[] {
  const key = pair.path[pair.path.length - 1];
  if (key === 'artifacts') return moveArtifacts(input, pair);
  if (key === 'multi_step_reward_mode' && pair.path.length === 1) {
    const name = 'multi_step_reward_strategy';
    if (find(input.tokens, [name])) return [];
    const fix = { code: 'unknown-key', span: pair.key, keepsMeaning: false };
    return [{ ...fix, ...rename(pair, name, `Rename to ${name} (Harbor then reads it)`) }];
  }
  if (!isEnvironment(pair.path.slice(0, -1))) return [];
  const fix = { code: 'deprecated-key', span: pair.key, keepsMeaning: true };
  if (key === 'memory' || key === 'storage')
    return sizeFix(input, pair, key).map((part) => ({ ...fix, ...part }));
  return key === 'allow_internet' ? internetFix(input, pair).map((part) => ({ ...fix, ...part })) : [];
}

type FixPart = Pick<TomlFix, 'title' | 'edits'>;

/** `memory = "2G"` -> `memory_mb = 2048`. */
function sizeFix(input: FixInput, pair: TomlPair, key: 'memory' | 'storage'): readonly FixPart[] {
  const { text, tokens, lines } = input;
  const field = `${key}_mb` as const;
  if (find(tokens, [...pair.path.slice(0, -1), field])) {
    return [
      { title: `Remove ${key}, which ${field} repeats`, edits: [removePair(text, lines, pair, 'keep')] },
    ];
  }
  const size = readAlone(input, pair, key)?.[field];
  return typeof size === 'number' ? [replace(pair, field, String(size))] : [];
}

/** `allow_internet = false` -> `network_mode = "no-network"`. */
function internetFix(input: FixInput, pair: TomlPair): readonly FixPart[] {
  const { text, tokens, lines } = input;
  const ruling = ['network_mode', 'allowed_hosts'].find((key) =>
    find(tokens, [...pair.path.slice(0, -1), key]),
  );
  if (ruling) {
    const title = `Remove allow_internet, which has no effect beside ${ruling}`;
    return [{ title, edits: [removePair(text, lines, pair, 'keep')] }];
  }
  const mode = readAlone(input, pair, 'allow_internet')?.network_mode;
  return mode === undefined ? [] : [replace(pair, 'network_mode', `"${mode}"`)];
}

/** What Harbor makes of this one key, whatever else is wrong with the file. */
function readAlone({ text, parse }: FixInput, { value }: TomlPair, key: string) {
  return parse(`[environment]\n${key} = ${text.slice(value.start, value.end)}\n`).config?.environment;
}

function rename(pair: TomlPair, name: string, title: string): FixPart {
  const last = pair.parts[pair.parts.length - 1];
  return { title, edits: last ? [{ span: last.span, text: name }] : [] };
}

function replace(pair: TomlPair, name: string, value: string): FixPart {
  const { edits } = rename(pair, name, '');
  return { title: `Write ${name} = ${value}`, edits: [...edits, { span: pair.value, text: value }] };
}

/** The pair or header of a path. */
function find(tokens: TomlTokens, path: Path): boolean {
  const name = pathText(path);
  return [...tokens.pairs, ...tokens.headers].some((token) => pathText(token.path) === name);
}

function isSound({ text, parsed, parse }: FixInput, fix: TomlFix): boolean {
  const fixed = applyEdits(text, fix.edits);
  const after = parse(fixed);
  const count = (source: string, { problems }: ParsedToml): number =>
    problems.filter(({ code }) => code === fix.code).length +
    legacyHints(source, tomlTokens(source)).filter(({ code }) => code === fix.code).length;
  if (count(fixed, after) >= count(text, parsed)) return false;
  if (errorCount(after) > errorCount(parsed)) return false;
  return !fix.keepsMeaning || isSameReading(parsed, after);
}

function errorCount({ problems }: ParsedToml): number {
  return problems.filter(({ severity }) => severity === 'error').length;
}

/** Harbor's model, or its complaints, are the same. */
function isSameReading(before: ParsedToml, after: ParsedToml): boolean {
  return (
    before.tomlError === after.tomlError &&
    isDeepStrictEqual(before.config, after.config) &&
    isDeepStrictEqual(before.harborErrors, after.harborErrors)
  );
}

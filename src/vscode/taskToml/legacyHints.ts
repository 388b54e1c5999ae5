import { type Path, pathText, type Span, type TomlPair, type TomlTokens } from './tomlTokens.ts';

/** Old spellings that Harbor reads without a word: hints, not warnings. */
export interface LegacyHint {
  readonly code: 'legacy-version' | 'legacy-transport';
  readonly message: string;
  readonly span: Span;
  readonly pair: TomlPair;
}

export function legacyHints(text: string, tokens: TomlTokens): readonly LegacyHint[] {
  const hasNewVersion = tokens.pairs.some(({ path }) => pathText(path) === '["schema_version"]');
  return tokens.pairs.flatMap((pair): LegacyHint[] => {
    if (pathText(pair.path) === '["version"]' && !hasNewVersion) {
      const message = 'version is the old name of schema_version; Harbor reads both.';
      return [{ code: 'legacy-version', message, span: pair.key, pair }];
    }
    const [servers, index, key] = pair.path.slice(-3);
    const isTransport = servers === 'mcp_servers' && typeof index === 'number' && key === 'transport';
    if (!isTransport || !isEnvironment(pair.path.slice(0, -3))) return [];
    if (!/^(["'])http\1$/.test(text.slice(pair.value.start, pair.value.end))) return [];
    const message = '"http" is an old spelling of "streamable-http"; Harbor reads both.';
    return [{ code: 'legacy-transport', message, span: pair.value, pair }];
  });
}

/** `[environment]`, `[verifier.environment]`, or that of a step's verifier. */
export function isEnvironment(table: Path): boolean {
  const names = table.filter((part) => typeof part === 'string').join('.');
  return ['environment', 'verifier.environment', 'steps.verifier.environment'].includes(names);
}

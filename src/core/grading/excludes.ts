import type { ArtifactConfig } from '#core/task/types.ts';

/**
 * An artifact's `exclude` list as GNU tar's `--exclude` reads it (tar manual, "Controlling Pattern-Matching": wildcards
 * that match slashes, unanchored): a pattern matches from the start of any part of the path to its end or to a slash.
 * The result says of a submission's entry name (no slash in front) whether it is left out.
 */
export function excludeMatcher(
  artifacts: readonly Pick<ArtifactConfig, 'source' | 'exclude'>[],
): (name: string) => boolean {
  const rules = artifacts
    .filter(({ exclude }) => exclude.length > 0)
    .map(({ source, exclude }) => ({
      root: `${source.replace(/^\/+|\/+$/g, '')}/`,
      patterns: exclude.map(toRegExp),
    }));
  return (name) =>
    rules.some(
      ({ root, patterns }) =>
        name.startsWith(root) && patterns.some((pattern) => pattern.test(`./${name.slice(root.length)}`)),
    );
}

function toRegExp(pattern: string): RegExp {
  let source = '';
  for (let i = 0; i < pattern.length; i++) {
    const c = pattern[i] as string;
    if (c === '*') source += '.*';
    else if (c === '?') source += '.';
    else if (c === '[') {
      const end = pattern.indexOf(']', i + 2);
      if (end === -1) source += '\\[';
      else {
        source += `[${pattern
          .slice(i + 1, end)
          .replace(/^!/, '^')
          .replace(/\\/g, '\\\\')}]`;
        i = end;
      }
    } else if (c === '\\' && i + 1 < pattern.length) source += quote(pattern[++i] as string);
    else source += quote(c);
  }
  try {
    return new RegExp(`(?:^|/)${source}(?:/|$)`, 's');
  } catch {
    return /(?!)/; // A range that ends before it begins matches nothing.
  }
}

function quote(c: string): string {
  return /[\\^$.*+?()[\]{}|/]/.test(c) ? `\\${c}` : c;
}

import path from 'node:path';

/**
 * `.dockerignore` as the docker client reads it (Docker docs, ".dockerignore files"): one pattern a line relative to
 * the context's root, `*`, `?`, `[…]`, `**`, `!` for exceptions, the last match wins, a match on a folder covers
 * what is below it.
 */
export function parseDockerignore(text: string): (relative: string) => boolean {
  const rules = text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const negated = line.startsWith('!');
      const pattern = path.posix.normalize(negated ? line.slice(1).trim() : line).replace(/^\/+|\/+$/g, '');
      return { negated, matches: toRegExp(pattern) };
    })
    .filter(({ matches }) => matches !== undefined);
  return (relative) => {
    let ignored = false;
    for (const { negated, matches } of rules)
      if (negated === ignored && matches?.test(relative)) ignored = !negated;
    return ignored;
  };
}

/** True when a rule could bring back something below an ignored folder, so that the folder must still be walked. */
export function hasExceptions(text: string): boolean {
  return /^\s*!/m.test(text);
}

function toRegExp(pattern: string): RegExp | undefined {
  if (pattern === '' || pattern === '.') return undefined;
  let source = '';
  for (let i = 0; i < pattern.length; i++) {
    const c = pattern[i] as string;
    if (c === '*' && pattern[i + 1] === '*') {
      i++;
      if (pattern[i + 1] === '/') {
        i++;
        source += '(?:.*/)?';
      } else source += '.*';
    } else if (c === '*') source += '[^/]*';
    else if (c === '?') source += '[^/]';
    else if (c === '[') {
      const end = pattern.indexOf(']', i + 1);
      if (end === -1) source += '\\[';
      else {
        source += `[${pattern.slice(i + 1, end).replace(/\\/g, '\\\\')}]`;
        i = end;
      }
    } else if (c === '\\' && i + 1 < pattern.length) source += escapeChar(pattern[++i] as string);
    else source += escapeChar(c);
  }
  try {
    return new RegExp(`^${source}(?:/.*)?$`, 's');
  } catch {
    return undefined;
  }
}

function escapeChar(c: string): string {
  return /[\\^$.*+?()[\]{}|/]/.test(c) ? `\\${c}` : c;
}

/**
 * gitignore patterns as Harbor's packager applies them (Python's `pathspec`, pattern style "gitignore"): each path is
 * judged alone, the last pattern that matches decides, and a folder's pattern covers everything below it.
 */

interface Rule {
  readonly expression: RegExp;
  readonly ignore: boolean;
}

/** True for the paths (relative, forward slashes) that the lines ignore. */
export function ignoreMatcher(lines: readonly string[]): (path: string) => boolean {
  const rules = lines.flatMap(ruleOf);
  return (path) => rules.findLast((rule) => rule.expression.test(path))?.ignore ?? false;
}

function ruleOf(line: string): Rule[] {
  // Trailing blanks go, unless escaped.
  let pattern = line.endsWith('\\ ') ? line : line.replace(/\s+$/, '');
  if (pattern === '' || pattern.startsWith('#')) return [];
  const ignore = !pattern.startsWith('!');
  if (!ignore) pattern = pattern.slice(1);
  const source = expressionOf(pattern);
  return source === undefined ? [] : [{ expression: new RegExp(source, 'su'), ignore }];
}

/** The expression to search a path for; undefined: an invalid pattern, which matches nothing. */
function expressionOf(pattern: string): string | undefined {
  let segments = pattern.split('/');
  const isFolder = segments[segments.length - 1] === '' && pattern !== '/';
  if (segments[0] === '') segments = segments.slice(1);
  // One name, with or without a slash after it, is looked for at every depth.
  else if (segments.length === 1 || (segments.length === 2 && segments[1] === ''))
    segments = ['**', ...segments];
  if (segments.length === 0) return undefined;
  if (segments[segments.length - 1] === '') segments = [...segments.slice(0, -1), '**'];
  segments = segments.filter((segment, index) => segment !== '**' || segments[index - 1] !== '**');
  const shape = segments.join('/');
  if (shape === '**') return isFolder ? '/' : '.';
  if (shape === '**/*') return '.';
  if (shape === '**/*/**') return '/';
  let source = '^';
  for (const [index, segment] of segments.entries()) {
    const isLast = index === segments.length - 1;
    if (segment === '**') {
      source += index === 0 ? '(?:.+/)?' : isLast ? '/' : '(?:/.+)?';
      continue;
    }
    if (index > 0 && !(index === 1 && segments[0] === '**')) source += '/';
    const part = segmentSource(segment);
    if (part === undefined) return undefined;
    source += part;
    if (isLast) source += segment === '*' ? '/?$' : '(?:/|$)';
  }
  return source;
}

/** `*`, `?`, `[…]` and escapes within one path component; undefined: an invalid pattern, which matches nothing. */
function segmentSource(segment: string): string | undefined {
  if (segment === '*') return '[^/]+';
  let source = '';
  const chars = [...segment];
  for (let i = 0; i < chars.length; i++) {
    const char = chars[i] ?? '';
    if (char === '\\') {
      i++;
      if (i >= chars.length) return undefined;
      source += quote(chars[i] ?? '');
    } else if (char === '*') source += '[^/]*';
    else if (char === '?') source += '[^/]';
    else if (char === '[') {
      const end = classEnd(chars, i);
      if (end === undefined) source += '\\[';
      else {
        source += classSource(chars.slice(i + 1, end));
        i = end;
      }
    } else source += quote(char);
  }
  return source;
}

/** The index of the `]` that closes a class, which may begin with `!`, `^` and a literal `]`. */
function classEnd(chars: readonly string[], start: number): number | undefined {
  let j = start + 1;
  if (chars[j] === '!' || chars[j] === '^') j++;
  if (chars[j] === ']') j++;
  while (j < chars.length && chars[j] !== ']') j++;
  return j < chars.length ? j : undefined;
}

function classSource(inner: readonly string[]): string {
  const negated = inner[0] === '!' || inner[0] === '^';
  const body = (negated ? inner.slice(1) : inner)
    .map((char) => (char === '-' ? char : /[\\\]^[&~|]/.test(char) ? `\\${char}` : char))
    .join('');
  try {
    new RegExp(`[${body}]`, 'u');
  } catch {
    return '(?!)';
  }
  return negated ? `[^${body}]` : `[${body}]`;
}

function quote(char: string): string {
  return /[\\^$.*+?()[\]{}|/]/.test(char) ? `\\${char}` : char;
}

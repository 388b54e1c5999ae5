/**
 * The glob patterns of search fields and settings: `*`, `?`, `**`, `[…]`, `{a,b}`. One without a slash counts at any
 * depth, and one that names a folder counts for all below it, as VS Code's search has it.
 */
export function globToRegExp(glob: string): RegExp {
  const text = glob.trim().replace(/^\.\//, '').replace(/\/+$/, '');
  const anchored = text.startsWith('/');
  const body = translate(anchored ? text.slice(1) : text);
  const prefix = anchored || text.startsWith('**/') || text.includes('/') ? '^' : '^(?:.*/)?';
  return new RegExp(`${prefix}${body}(?:/.*)?$`, 's');
}

/** Splits "src/**, {a,b}.py" at the commas outside braces. */
export function splitGlobs(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let part = '';
  for (const character of text) {
    if (character === '{') depth++;
    if (character === '}') depth--;
    if (character === ',' && depth <= 0) {
      parts.push(part);
      part = '';
    } else part += character;
  }
  return [...parts, part].map((one) => one.trim()).filter(Boolean);
}

/** The pattern's regular expression without anchors. */
export function translate(glob: string): string {
  let source = '';
  for (let at = 0; at < glob.length; at++) {
    const character = glob.charAt(at);
    if (glob.startsWith('**/', at) && (at === 0 || glob.charAt(at - 1) === '/')) {
      source += '(?:.*/)?';
      at += 2;
    } else if (glob.startsWith('**', at)) {
      source += '.*';
      at += 1;
    } else if (character === '*') source += '[^/]*';
    else if (character === '?') source += '[^/]';
    else if (character === '[' && classAt(glob, at)) {
      const found = classAt(glob, at) ?? '';
      source += found.replace(/^\[[!^]/, '[^').replaceAll('\\', '\\\\');
      at += found.length - 1;
    } else if (character === '{' && glob.indexOf('}', at) > 0) {
      const end = glob.indexOf('}', at);
      const choices = glob.slice(at + 1, end).split(',');
      source += `(?:${choices.map(translate).join('|')})`;
      at = end;
    } else if (character === '\\' && at + 1 < glob.length) source += escapeRegExp(glob.charAt(++at));
    else source += escapeRegExp(character);
  }
  return source;
}

/** A well-formed character class at this place. */
function classAt(glob: string, at: number): string | undefined {
  return /^\[[!^]?[^\]/[]+\]/.exec(glob.slice(at))?.[0];
}

export function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
}

import { translate } from './globs.ts';

/** A pattern of a `.gitignore` file (gitignore(5)). */
export interface IgnoreRule {
  /** Folder of the file, with a slash at its end; empty at the top. */
  readonly base: string;
  readonly pattern: RegExp;
  readonly isNegated: boolean;
  readonly isFolderOnly: boolean;
}

/** Reads one ignore file; a pattern that makes no sense is passed over. */
export function parseIgnoreFile(text: string, base: string): IgnoreRule[] {
  return text.split(/\r?\n/).flatMap((line) => {
    let glob = line.replace(/(?<!\\) +$/, '');
    if (glob === '' || glob.startsWith('#')) return [];
    const isNegated = glob.startsWith('!');
    if (isNegated) glob = glob.slice(1);
    const isFolderOnly = glob.endsWith('/');
    if (isFolderOnly) glob = glob.slice(0, -1);
    const isAnchored = glob.includes('/');
    try {
      const source = `${isAnchored ? '^' : '^(?:.*/)?'}${translate(glob.replace(/^\//, ''))}$`;
      return [{ base, pattern: new RegExp(source, 's'), isNegated, isFolderOnly }];
    } catch {
      return [];
    }
  });
}

/**
 * Tells whether a file below the top is ignored. Rules of deeper folders come after those above; nothing below an
 * ignored folder can be taken in again, as git has it.
 */
export function createIgnore(rules: readonly IgnoreRule[]): (path: string) => boolean {
  const folders = new Map<string, boolean>();
  const matches = (path: string, isFolder: boolean): boolean => {
    let isIgnored = false;
    for (const rule of rules) {
      if (rule.isFolderOnly && !isFolder) continue;
      if (!path.startsWith(rule.base) || !rule.pattern.test(path.slice(rule.base.length))) continue;
      isIgnored = !rule.isNegated;
    }
    return isIgnored;
  };
  const isFolderIgnored = (folder: string): boolean => {
    if (folder === '') return false;
    let known = folders.get(folder);
    if (known === undefined) {
      known = isFolderIgnored(parentOf(folder)) || matches(folder, true);
      folders.set(folder, known);
    }
    return known;
  };
  return (path) => rules.length > 0 && (isFolderIgnored(parentOf(path)) || matches(path, false));
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

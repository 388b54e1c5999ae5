/** Characters of one text that are told. */
const maxChars = 20_000;

export interface ChangedLines {
  /** From 1. */
  readonly start_line: number;
  readonly old_text: string;
  readonly new_text: string;
  /** Characters in all of what is told in part. */
  readonly cut?: { readonly old: number; readonly new: number };
}

/** What differs between two texts, from the first line to the last one that does; long ones are told in part. */
export function changedLines(before: string, after: string): ChangedLines {
  const [old, now] = [before.split('\n'), after.split('\n')];
  const most = Math.min(old.length, now.length);
  let start = 0;
  while (start < most && old[start] === now[start]) start++;
  let end = 0;
  while (end < most - start && old[old.length - 1 - end] === now[now.length - 1 - end]) end++;
  const oldText = old.slice(start, old.length - end).join('\n');
  const newText = now.slice(start, now.length - end).join('\n');
  const isCut = oldText.length > maxChars || newText.length > maxChars;
  return {
    start_line: start + 1,
    old_text: oldText.slice(0, maxChars),
    new_text: newText.slice(0, maxChars),
    ...(isCut ? { cut: { old: oldText.length, new: newText.length } } : {}),
  };
}

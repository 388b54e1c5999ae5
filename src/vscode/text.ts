/** Text from reports and verifiers, made fit for the place where it is shown. */

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are made of them.
const ansiPattern = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\^_])/g;

/** Without terminal colours and titles: messages beside code show them as garbage. */
export function stripAnsi(text: string): string {
  return text.includes('\u001b') ? text.replace(ansiPattern, '') : text;
}

const labelLimit = 200;

// biome-ignore lint/suspicious/noControlCharactersInRegex: names from a report may hold any of them.
const blankPattern = /[\s\u0000-\u001f\u007f-\u009f]+/g;

/** One line without colours, short enough for a row; empty names get a name. */
export function oneLine(text: string, whenEmpty = '(no name)'): string {
  const line = stripAnsi(text).replace(blankPattern, ' ').trim();
  if (line === '') return whenEmpty;
  return line.length > labelLimit ? `${line.slice(0, labelLimit)}…` : line;
}

/**
 * For a notification, where VS Code makes a link of `[text](command:…)` and runs it at a click: names of files, text of
 * reports and of engines may hold one. An invisible joiner between the two brackets keeps it text.
 */
export function withoutLinks(text: string): string {
  return text.replaceAll('](', ']\u2060(');
}

/** A word of ours among a terminal's output: italic, since a dim text is hard to read in light and contrast themes. */
export function aside(text: string): string {
  return `\u001b[3m${text}\u001b[0m`;
}

/** Turns line ends into the `\r\n` that a terminal wants, also where a pair falls on two chunks. */
export function createCrlf(): (chunk: string) => string {
  let lastWasReturn = false;
  return (chunk) => {
    const text = chunk.replace(/\r?\n/g, '\r\n');
    const result = lastWasReturn && chunk.startsWith('\n') ? text.slice(1) : text;
    if (chunk !== '') lastWasReturn = chunk.endsWith('\r');
    return result;
  };
}

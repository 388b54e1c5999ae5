import { createReadStream } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { errorCode } from '#core/base/errors.ts';
import { stripAnsi } from '#core/report/text.ts';
import type { RecordLine } from './recordEvents.ts';

/** Characters of one output that are kept from its beginning, and from its end. */
const keptHead = 4_000;
const keptTail = 4_000;
/** Output and the mark that ends its command come in one piece, the mark first; milliseconds. */
const sameMoment = 20;

/** What a terminal showed in a time, its middle left out where it is long. */
class Excerpt {
  #head = '';
  #tail = '';
  #omitted = 0;

  add(text: string): void {
    const room = keptHead - this.#head.length;
    if (room > 0) this.#head += text.slice(0, room);
    const rest = room > 0 ? text.slice(room) : text;
    const tail = this.#tail + rest;
    this.#omitted += Math.max(0, tail.length - keptTail);
    this.#tail = tail.slice(-keptTail);
  }

  get text(): string {
    const middle = this.#omitted > 0 ? `\n[${this.#omitted} characters left out]\n` : '';
    return stripAnsi(`${this.#head}${middle}${this.#tail}`);
  }
}

interface Span {
  readonly id: string;
  /** Monotonic milliseconds. */
  readonly from: number;
  to: number;
}

/**
 * The outputs of a record's commands, by their ids, and of terminals in which no command is known, by theirs: what
 * their casts hold, bounded. A cast that is gone or torn gives what there is.
 */
export async function readExcerpts(
  dir: string,
  lines: AsyncIterable<RecordLine>,
): Promise<ReadonlyMap<string, string>> {
  const terminals = new Map<string, { readonly cast: string; readonly since: number; spans: Span[] }>();
  const spans = new Map<string, Span>();
  for await (const line of lines) {
    if (line.kind === 'terminal') terminals.set(line.id, { cast: line.cast, since: line.mono, spans: [] });
    else if (line.kind === 'command') {
      const span: Span = { id: line.id, from: line.mono, to: Number.POSITIVE_INFINITY };
      spans.set(line.id, span);
      terminals.get(line.in)?.spans.push(span);
    } else if (line.kind === 'command-ended') {
      const span = spans.get(line.id);
      if (span) span.to = line.mono + sameMoment;
    }
  }
  const texts = new Map<string, string>();
  for (const [id, terminal] of terminals) {
    const whole: Span = { id, from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY };
    const wanted = terminal.spans.length > 0 ? terminal.spans : [whole];
    const found = await readCast(
      path.join(dir, 'terminals', path.basename(terminal.cast)),
      terminal.since,
      wanted,
    );
    for (const [span, excerpt] of found) texts.set(span, excerpt.text);
  }
  return texts;
}

async function readCast(
  file: string,
  since: number,
  spans: readonly Span[],
): Promise<ReadonlyMap<string, Excerpt>> {
  const found = new Map<string, Excerpt>();
  let at = 0;
  try {
    for await (const line of createInterface({ input: createReadStream(file, 'utf8') })) {
      const event = eventOf(line);
      if (!event) continue;
      const [seconds, code, text] = event;
      const mono = since + seconds * 1000;
      while (at < spans.length - 1 && mono > (spans[at]?.to ?? 0)) at++;
      const span = spans[at];
      if (!span || mono < span.from || mono > span.to) continue;
      const excerpt = found.get(span.id) ?? new Excerpt();
      found.set(span.id, excerpt);
      excerpt.add(code === 'o' ? text : `\n[${text}]\n`);
    }
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
  return found;
}

/** An output, or a mark of what is not there. */
function eventOf(line: string): readonly [number, 'o' | 'm', string] | undefined {
  try {
    const [seconds, code, text] = JSON.parse(line) as [unknown, unknown, unknown];
    if (typeof seconds === 'number' && (code === 'o' || code === 'm') && typeof text === 'string')
      return [seconds, code, text];
  } catch {
    // The header, or a line that a crash tore.
  }
  return undefined;
}

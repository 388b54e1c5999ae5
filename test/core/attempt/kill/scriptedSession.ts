import { createHash } from 'node:crypto';
import { encodeText } from '#core/attempt/encodeText.ts';
import type { RecordEvent } from '#core/attempt/recordEvents.ts';
import { randoms } from '../support.ts';

/** One step of a builder: a line of the record, or what a terminal shows or is told. */
export type Step =
  | { readonly event: RecordEvent }
  | { readonly code: 'o' | 'i' | 'r'; readonly data: string };

export interface ModelText {
  readonly text: string;
  readonly encoding: string;
  readonly eol: '\n' | '\r\n';
  readonly saved: Buffer | undefined;
}

type Change = [number, number, string];

const encodings = ['utf8', 'utf8bom', 'utf16le', 'windows1252'];
const snippets = ['x', '\n', '  ', 'é', 'return a + b\n', 'ß', 'def f():\n\tpass\n', '{}', 'y'.repeat(2_000)];

/**
 * What a builder does, by a seed and the texts that there are: two of one seed do the same. It keeps its own account of
 * every text, which shares no code with the replay.
 */
export class ScriptedSession {
  readonly texts: Map<string, ModelText>;
  readonly #random: () => number;
  #version = 0;
  #made = 0;
  #isFrozen = false;
  #command: string | undefined;

  constructor(seed: number, texts: ReadonlyMap<string, ModelText> = new Map()) {
    this.#random = randoms(seed);
    this.texts = new Map(texts);
  }

  /** The next step; the account is of after it. */
  next(): Step {
    if (this.#isFrozen) {
      if (this.#random() < 0.9) return this.#terminal();
      this.#isFrozen = false;
      return { event: { kind: 'thawed' } };
    }
    const dice = this.#random();
    if (dice < 0.55) return this.#edit();
    if (dice < 0.7) return this.#terminal();
    if (dice < 0.8) return this.#save();
    if (dice < 0.86) return this.#file();
    if (dice < 0.92) return this.#runCommand();
    if (dice < 0.96) return { event: { kind: 'note', text: `note ${this.#below(1_000)} \u2028 “ü”` } };
    if (dice < 0.98) return { event: { kind: 'focus', focused: this.#random() < 0.5 } };
    this.#isFrozen = true;
    return { event: { kind: 'frozen', reason: 'pause' } };
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  #pick<T>(all: readonly T[]): T {
    return all[this.#below(all.length)] as T;
  }

  #terminal(): Step {
    const dice = this.#random();
    if (dice < 0.1) return { code: 'r', data: `${80 + this.#below(40)}x24` };
    if (dice < 0.4) return { code: 'i', data: this.#pick(['ls\r', '\u0003', 'make "ü"\r']) };
    return { code: 'o', data: `line ${this.#below(1e6)} \u001b[31m${'z'.repeat(this.#below(300))}\r\n` };
  }

  /** Of a text that is known; else it gets one. */
  #edit(): Step {
    const path = this.#random() < 0.05 ? undefined : this.#somePath();
    const before = path === undefined ? undefined : this.texts.get(path);
    if (path === undefined || !before) return this.#open();
    const changes = this.#changes(before.text.length);
    let text = '';
    let at = 0;
    for (const [offset, length, inserted] of changes) {
      text += before.text.slice(at, offset) + inserted;
      at = offset + length;
    }
    text += before.text.slice(at);
    this.texts.set(path, { ...before, text });
    const actor = this.#random() < 0.9 ? 'human' : 'external';
    return { event: { kind: 'edit', path, actor, version: this.#version++, changes } };
  }

  /** In order, of the text before, and apart from one another. */
  #changes(length: number): Change[] {
    const count = this.#random() < 0.8 ? 1 : 2 + this.#below(4);
    const ends = Array.from({ length: count * 2 }, () => this.#below(length + 1)).sort((a, b) => a - b);
    const changes: Change[] = [];
    for (let i = 0; i < count; i++) {
      const [from = 0, to = 0] = ends.slice(i * 2);
      const taken = Math.min(to - from, this.#below(12));
      changes.push([from, taken, this.#pick(snippets)]);
    }
    return changes.filter(([from], i) => i === 0 || from > (changes[i - 1]?.[0] ?? 0));
  }

  #open(): Step {
    const path = `/app/d${this.#below(3)}/file-${this.#made++}-${this.#below(1e6)}.py`;
    const encoding = this.#pick(encodings);
    const text = Array.from({ length: 20 + this.#below(60) }, () => this.#pick(snippets)).join('');
    this.texts.set(path, { text, encoding, eol: '\n', saved: undefined });
    const event = { kind: 'text', path, actor: 'external', version: this.#version++, encoding } as const;
    return { event: { ...event, eol: '\n', text } };
  }

  #save(): Step {
    const path = this.#somePath();
    const before = path === undefined ? undefined : this.texts.get(path);
    if (path === undefined || !before) return this.#open();
    const saved = encodeText(before.text, before.encoding);
    if (!saved) throw new Error(`The script has a text that ${before.encoding} lacks.`);
    this.texts.set(path, { ...before, saved });
    const sha256 = createHash('sha256').update(saved).digest('hex');
    return { event: { kind: 'saved', path, actor: 'human', bytes: saved.length, sha256 } };
  }

  #file(): Step {
    const path = this.#somePath();
    const before = path === undefined ? undefined : this.texts.get(path);
    if (path === undefined || !before) return this.#open();
    const what = this.#pick(['renamed', 'copied', 'deleted', 'changed'] as const);
    if (what === 'changed') return { event: { kind: 'file', what, path, actor: 'external' } };
    if (what !== 'copied') this.texts.delete(path);
    if (what === 'deleted') return { event: { kind: 'file', what, path, actor: 'human' } };
    const to = `/app/e/moved-${this.#made++}-${this.#below(1e6)}.py`;
    this.texts.set(to, before);
    return { event: { kind: 'file', what, path, to, actor: 'human' } };
  }

  #runCommand(): Step {
    if (this.#command === undefined) {
      this.#command = `k${this.#below(1e9)}`;
      const event = { kind: 'command', id: this.#command, in: 't', actor: 'human', command: 'make' } as const;
      return { event };
    }
    const id = this.#command;
    this.#command = undefined;
    return { event: { kind: 'command-ended', id, exitCode: this.#below(3) } };
  }

  #somePath(): string | undefined {
    return this.#pick([...this.texts.keys()].slice(-6));
  }
}

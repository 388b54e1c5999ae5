import { createHash } from 'node:crypto';
import { encodeText } from './encodeText.ts';
import type { RecordLine } from './recordEvents.ts';

/** A text file at one moment of the record. */
export interface ReplayedText {
  /** As the editor showed it, saved or not. */
  readonly text: string;
  readonly encoding: string;
  readonly eol: '\n' | '\r\n';
  /** What the last recorded save wrote; undefined before the first. */
  readonly saved: Buffer | undefined;
  /** Why the text may be another than it was; undefined while all of the record agrees. */
  readonly doubt: string | undefined;
}

/**
 * Rebuilds every edited text file from the lines of a record, in their order: after each line, what it was at that
 * moment. A save proves the text by its hash.
 */
export class TextReplay {
  readonly #files = new Map<string, ReplayedText>();

  /** Of a path in the container; undefined while the record has no text of it. */
  get(path: string): ReplayedText | undefined {
    return this.#files.get(path);
  }

  get paths(): readonly string[] {
    return [...this.#files.keys()];
  }

  apply(line: RecordLine): void {
    switch (line.kind) {
      case 'text': {
        const saved = this.#files.get(line.path)?.saved;
        const { text, encoding, eol } = line;
        this.#files.set(line.path, { text, encoding, eol, saved, doubt: undefined });
        return;
      }
      case 'edit':
        this.#edit(line);
        return;
      case 'saved':
        this.#save(line);
        return;
      case 'file':
        this.#file(line);
        return;
      default:
    }
  }

  #edit({ path, changes, eol }: RecordLine & { kind: 'edit' }): void {
    const before = this.#files.get(path);
    if (!before) return;
    const fits = changes.every(([offset, length]) => offset + length <= before.text.length);
    const text = fits ? applyChanges(before.text, changes) : before.text;
    this.#files.set(path, {
      ...before,
      text: eol === undefined ? text : text.replace(/\r\n|\n/g, eol),
      eol: eol ?? before.eol,
      doubt: fits ? before.doubt : 'An edit was of another text.',
    });
  }

  #save({ path, sha256, encoding, content }: RecordLine & { kind: 'saved' }): void {
    const before = this.#files.get(path);
    if (!before) return;
    const now = { ...before, encoding: encoding ?? before.encoding };
    const saved = content === undefined ? encodeText(now.text, now.encoding) : Buffer.from(content, 'base64');
    const isSame = saved !== undefined && createHash('sha256').update(saved).digest('hex') === sha256;
    this.#files.set(path, {
      ...now,
      saved: isSame ? saved : undefined,
      doubt: isSame ? undefined : 'What was saved is not the text that the record leads to.',
    });
  }

  /** A folder is moved with all that is in it. */
  #file({ what, path, to }: RecordLine & { kind: 'file' }): void {
    if (what !== 'deleted' && what !== 'renamed' && what !== 'copied') return;
    if (path === to) return;
    if (what === 'renamed' || what === 'copied')
      for (const inside of this.#inside(to ?? '')) this.#files.delete(inside);
    for (const inside of this.#inside(path)) {
      const file = this.#files.get(inside);
      if (what !== 'copied') this.#files.delete(inside);
      if (file && to !== undefined) this.#files.set(`${to}${inside.slice(path.length)}`, file);
    }
  }

  #inside(path: string): string[] {
    return this.paths.filter((other) => other === path || other.startsWith(`${path}/`));
  }
}

/** All offsets are of the text before; from its end on, none moves another. */
export function applyChanges(text: string, changes: readonly (readonly [number, number, string])[]): string {
  let now = text;
  for (const [offset, length, inserted] of changes.toSorted(([a], [b]) => b - a))
    now = now.slice(0, offset) + inserted + now.slice(offset + length);
  return now;
}

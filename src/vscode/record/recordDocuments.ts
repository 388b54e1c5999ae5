import { createHash } from 'node:crypto';
import * as vscode from 'vscode';
import { encodeText } from '#core/attempt/encodeText.ts';
import type { RecordEvent } from '#core/attempt/recordEvents.ts';
import { applyChanges } from '#core/attempt/replayText.ts';
import { type Disposable, DisposableStore } from '#core/base/disposable.ts';
import type { WorkspaceSessions } from '#vscode/workspace/workspaceSessions.ts';
import { type RecordedPlace, recordedPlace } from './recordedPath.ts';

type Eol = '\n' | '\r\n';

/** What is known of an open document: its text before its first edit, which the record gets with that. */
interface Known {
  /** Worked out once: every keystroke asks for it. */
  readonly place: RecordedPlace;
  unwritten: string | undefined;
  /** What ended the lines of that text. */
  textEol?: Eol | undefined;
  eol: Eol;
}

type Edit = RecordEvent & { kind: 'edit' };

/**
 * VS Code tells a change before it tells that the document is dirty by it; one that stays clean for so long was read
 * anew from the container: somebody else wrote it there, or the person went back to what is saved.
 */
const holdMs = 200;

interface Held {
  readonly known: Known;
  readonly edit: Edit;
  readonly timer: NodeJS.Timeout;
}

/**
 * Records what is typed. Of a document that is only looked at, nothing; of an edited one, its text before, then each
 * change. The handlers of edits do no more than hand over what they get: the record is written later.
 */
export class DocumentRecorder implements Disposable {
  readonly #sessions: WorkspaceSessions;
  readonly #store = new DisposableStore();
  readonly #known = new Map<vscode.TextDocument, Known>();
  readonly #held = new Map<vscode.TextDocument, Held>();

  constructor(sessions: WorkspaceSessions) {
    this.#sessions = sessions;
    const { workspace } = vscode;
    this.#store.add(workspace.onDidOpenTextDocument((document) => this.#opened(document)));
    this.#store.add(workspace.onDidChangeTextDocument((event) => this.changed(event)));
    this.#store.add(workspace.onDidSaveTextDocument((document) => this.#saved(document)));
    this.#store.add(workspace.onDidCloseTextDocument((document) => this.#closed(document)));
    this.#store.add(
      sessions.onDidOpen(() => {
        for (const document of workspace.textDocuments) this.#opened(document);
      }),
    );
  }

  /** The handler of every edit. */
  changed({
    document,
    contentChanges,
    reason,
  }: Pick<vscode.TextDocumentChangeEvent, 'document' | 'contentChanges'> & {
    readonly reason?: vscode.TextDocumentChangeReason | undefined;
  }): void {
    const known = this.#current(document);
    if (!known) {
      const place = recordedPlace(this.#sessions, document.uri);
      if (place && contentChanges.length > 0) this.#write(place, document, document.getText(), 'human');
      return;
    }
    const eol = eolOf(document);
    if (document.isDirty || contentChanges.length > 0) this.#settle(document, document.isDirty);
    if (contentChanges.length === 0 && known.eol === eol) return;
    const edit: Edit = {
      kind: 'edit',
      path: known.place.path,
      actor: 'human',
      version: document.version,
      changes: contentChanges.map(({ rangeOffset, rangeLength, text }) => [rangeOffset, rangeLength, text]),
      ...(known.eol === eol ? {} : { eol }),
    };
    known.eol = eol;
    if (document.isDirty || reason !== undefined || contentChanges.length === 0)
      this.#append(document, known, edit);
    else {
      const timer = setTimeout(() => this.#settle(document, document.isDirty), holdMs);
      this.#held.set(document, { known, edit, timer });
    }
  }

  /** Who made a change that left the document clean is known now. */
  #settle(document: vscode.TextDocument, isHuman: boolean): void {
    const held = this.#held.get(document);
    if (!held) return;
    this.#held.delete(document);
    const { known, edit, timer } = held;
    clearTimeout(timer);
    if (isHuman) this.#append(document, known, edit);
    else if (known.unwritten !== undefined) {
      const text = applyChanges(known.unwritten, edit.changes);
      known.unwritten = edit.eol === undefined ? text : text.replace(/\r\n|\n/g, edit.eol);
      known.textEol = edit.eol ?? known.textEol;
    } else this.#append(document, known, { ...edit, actor: 'external' });
  }

  /** Undefined for one that is not known, or was in a session before. */
  #current(document: vscode.TextDocument): Known | undefined {
    const known = this.#known.get(document);
    const session = known?.place.session;
    return session && this.#sessions.current(session.id) === session ? known : undefined;
  }

  #append(document: vscode.TextDocument, known: Known, edit: Edit): void {
    if (known.unwritten !== undefined) this.#write(known.place, document, known.unwritten, 'external', known);
    known.place.recorder.append(edit);
  }

  #opened(document: vscode.TextDocument): void {
    const place = recordedPlace(this.#sessions, document.uri);
    if (!place || this.#current(document)) return;
    const eol = eolOf(document);
    const known = { place, unwritten: document.getText(), textEol: eol, eol };
    this.#known.set(document, known);
    // A backup that the window restored: edits from before that nobody else tells.
    if (document.isDirty) this.#write(place, document, known.unwritten, 'human');
  }

  #closed(document: vscode.TextDocument): void {
    this.#settle(document, false);
    this.#known.delete(document);
  }

  #saved(document: vscode.TextDocument): void {
    this.#settle(document, true);
    const place = recordedPlace(this.#sessions, document.uri);
    if (!place) return;
    const { recorder, path } = place;
    const known = this.#current(document);
    // Saved without an edit, as in another encoding.
    if (known?.unwritten !== undefined) this.#write(place, document, known.unwritten, 'human');
    const bytes = encodeText(document.getText(), document.encoding);
    if (bytes) recorder.append(savedEvent(path, document.encoding, bytes));
    else void this.#readSaved(place, document.encoding);
  }

  /** In an encoding that we cannot write: what is in the file. */
  async #readSaved({ recorder, session, path }: RecordedPlace, encoding: string): Promise<void> {
    const binary = Buffer.from(path, 'utf8').toString('latin1');
    const bytes = await session.open.files.read(binary).catch(() => undefined);
    if (bytes) recorder.append({ ...savedEvent(path, encoding, bytes), content: bytes.toString('base64') });
  }

  #write(
    place: RecordedPlace,
    document: vscode.TextDocument,
    text: string,
    actor: 'human' | 'external',
    known: Known = { place, unwritten: undefined, eol: eolOf(document) },
  ): void {
    const { version, encoding } = document;
    const eol = known.textEol ?? known.eol;
    place.recorder.append({ kind: 'text', path: place.path, actor, version, encoding, eol, text });
    known.unwritten = undefined;
    known.textEol = undefined;
    this.#known.set(document, known);
  }

  dispose(): void {
    for (const { timer } of this.#held.values()) clearTimeout(timer);
    this.#store.dispose();
  }
}

function savedEvent(path: string, encoding: string, bytes: Buffer): RecordEvent & { kind: 'saved' } {
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return { kind: 'saved', path, actor: 'human', bytes: bytes.length, sha256, encoding };
}

function eolOf({ eol }: vscode.TextDocument): Eol {
  return eol === vscode.EndOfLine.CRLF ? '\r\n' : '\n';
}

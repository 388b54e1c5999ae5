import { createHash } from 'node:crypto';
import * as vscode from 'vscode';
import { encodeText } from '#core/attempt/encodeText.ts';
import type { RecordEvent } from '#core/attempt/recordEvents.ts';
import { type Disposable, DisposableStore } from '#core/base/disposable.ts';
import type { WorkspaceSession } from '#vscode/workspace/workspaceSession.ts';
import type { WorkspaceSessions } from '#vscode/workspace/workspaceSessions.ts';
import { type RecordedPlace, recordedPlace } from './recordedPath.ts';

type Eol = '\n' | '\r\n';

/** What is known of an open document: its text before its first edit, which the record gets with that. */
interface Known {
  readonly session: WorkspaceSession;
  unwritten: string | undefined;
  eol: Eol;
}

/**
 * Records what is typed. Of a document that is only looked at, nothing; of an edited one, its text before, then each
 * change. The handlers of edits do no more than hand over what they get: the record is written later.
 */
export class DocumentRecorder implements Disposable {
  readonly #sessions: WorkspaceSessions;
  readonly #store = new DisposableStore();
  readonly #known = new Map<string, Known>();

  constructor(sessions: WorkspaceSessions) {
    this.#sessions = sessions;
    const { workspace } = vscode;
    this.#store.add(workspace.onDidOpenTextDocument((document) => this.#opened(document)));
    this.#store.add(workspace.onDidChangeTextDocument((event) => this.changed(event)));
    this.#store.add(workspace.onDidSaveTextDocument((document) => this.#saved(document)));
    this.#store.add(workspace.onDidCloseTextDocument(({ uri }) => this.#known.delete(String(uri))));
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
  }: Pick<vscode.TextDocumentChangeEvent, 'document' | 'contentChanges'>): void {
    const place = recordedPlace(this.#sessions, document.uri);
    if (!place) return;
    const known = this.#known.get(String(document.uri));
    const eol = eolOf(document);
    if (contentChanges.length === 0 && known?.eol === eol) return;
    // Read anew from the container: somebody else wrote it there, or the person went back to what is saved.
    const isReload = !document.isDirty && contentChanges.length > 0;
    if (!known || known.session !== place.session) {
      this.#write(place, document, document.getText(), isReload ? 'external' : 'human');
      return;
    }
    if (isReload && known.unwritten !== undefined) {
      known.unwritten = document.getText();
      known.eol = eol;
      return;
    }
    if (known.unwritten !== undefined) place.recorder.append(textEvent(place, document, known));
    known.unwritten = undefined;
    place.recorder.append({
      kind: 'edit',
      path: place.path,
      actor: isReload ? 'external' : 'human',
      version: document.version,
      changes: contentChanges.map(({ rangeOffset, rangeLength, text }) => [rangeOffset, rangeLength, text]),
      ...(known.eol === eol ? {} : { eol }),
    });
    known.eol = eol;
  }

  #opened(document: vscode.TextDocument): void {
    const place = recordedPlace(this.#sessions, document.uri);
    if (!place || this.#known.get(String(document.uri))?.session === place.session) return;
    const known = { session: place.session, unwritten: document.getText(), eol: eolOf(document) };
    this.#known.set(String(document.uri), known);
    // A backup that the window restored: edits from before that nobody else tells.
    if (document.isDirty) this.#write(place, document, known.unwritten, 'human');
  }

  #saved(document: vscode.TextDocument): void {
    const place = recordedPlace(this.#sessions, document.uri);
    if (!place) return;
    const { recorder, path } = place;
    const known = this.#known.get(String(document.uri));
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
  ): void {
    const known: Known = { session: place.session, unwritten: text, eol: eolOf(document) };
    place.recorder.append(textEvent(place, document, known, actor));
    this.#known.set(String(document.uri), { ...known, unwritten: undefined });
  }

  dispose(): void {
    this.#store.dispose();
  }
}

function textEvent(
  { path }: RecordedPlace,
  document: vscode.TextDocument,
  { unwritten, eol }: Known,
  actor: 'human' | 'external' = 'external',
): RecordEvent {
  const { version, encoding } = document;
  return { kind: 'text', path, actor, version, encoding, eol, text: unwritten ?? '' };
}

function savedEvent(path: string, encoding: string, bytes: Buffer): RecordEvent & { kind: 'saved' } {
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return { kind: 'saved', path, actor: 'human', bytes: bytes.length, sha256, encoding };
}

function eolOf({ eol }: vscode.TextDocument): Eol {
  return eol === vscode.EndOfLine.CRLF ? '\r\n' : '\n';
}

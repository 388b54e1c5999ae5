import * as vscode from 'vscode';
import type { RecordEvent } from '#core/attempt/recordEvents.ts';
import { type Disposable, DisposableStore } from '#core/base/disposable.ts';
import type { WorkspaceSessions } from '#vscode/workspace/workspaceSessions.ts';
import { recordedPlace } from './recordedPath.ts';

type What = (RecordEvent & { kind: 'file' })['what'];

/** What the person does comes back as a change of the file system: for so long it is not somebody else's. */
const ownMs = 5_000;
/** A build makes thousands of files: of each second some are told, and how many were not. */
const maxPerSecond = 100;

/** Records files that the person makes, moves and removes in the editor, and what programs do in the container. */
export function recordFiles(sessions: WorkspaceSessions): Disposable {
  const store = new DisposableStore();
  const own = new Map<string, number>();
  let second = 0;
  let told = 0;

  const append = (what: What, uri: vscode.Uri, actor: 'human' | 'external', target?: vscode.Uri): void => {
    const place = recordedPlace(sessions, uri);
    if (!place) return;
    const to = target && recordedPlace(sessions, target)?.path;
    const event = {
      kind: 'file',
      what,
      path: place.path,
      actor,
      ...(to === undefined ? {} : { to }),
    } as const;
    place.recorder.append(event);
  };
  const byPerson = (what: What, uri: vscode.Uri, target?: vscode.Uri): void => {
    for (const { path } of [uri, target ?? uri]) own.set(path, performance.now());
    append(what, uri, 'human', target);
  };
  const byProgram = (what: What) => (uri: vscode.Uri) => {
    const now = performance.now();
    for (const [path, at] of own) if (now - at > ownMs) own.delete(path);
    if (isOwn(own, uri.path)) return;
    if (Math.floor(now / 1000) !== second) {
      second = Math.floor(now / 1000);
      told = 0;
    }
    if (told++ < maxPerSecond) append(what, uri, 'external');
    else if (told === maxPerSecond + 1)
      append('many', vscode.Uri.from({ scheme: uri.scheme, path: rootOf(uri) }), 'external');
  };

  const { workspace } = vscode;
  store.add(
    workspace.onDidCreateFiles(({ files }) => {
      for (const uri of files) byPerson('created', uri);
    }),
  );
  store.add(
    workspace.onDidDeleteFiles(({ files }) => {
      for (const uri of files) byPerson('deleted', uri);
    }),
  );
  store.add(
    workspace.onDidRenameFiles(({ files }) => {
      for (const { oldUri, newUri } of files) byPerson('renamed', oldUri, newUri);
    }),
  );
  store.add(workspace.onDidSaveTextDocument(({ uri }) => own.set(uri.path, performance.now())));
  const watcher = store.add(workspace.createFileSystemWatcher('**'));
  store.add(watcher.onDidCreate(byProgram('created')));
  store.add(watcher.onDidChange(byProgram('changed')));
  store.add(watcher.onDidDelete(byProgram('deleted')));
  return store;
}

/** The path, or a folder that it is in. */
function isOwn(own: ReadonlyMap<string, number>, path: string): boolean {
  for (let at = path; at !== ''; at = at.slice(0, Math.max(0, at.lastIndexOf('/'))))
    if (own.has(at)) return true;
  return false;
}

function rootOf({ path }: vscode.Uri): string {
  return `/${path.split('/')[1] ?? ''}`;
}

import * as vscode from 'vscode';
import type { Disposable } from '#core/base/disposable.ts';

/** The content behind a virtual document; undefined when there is none. */
export type ReadDocument = (uri: vscode.Uri) => Promise<Uint8Array | undefined>;

const unwatched: Disposable = { dispose: () => undefined };

/**
 * Serves a scheme of read-only documents. A file system instead of a text content provider: editors that the
 * window restores find it through `onFileSystem`, and VS Code shows the lock.
 */
export function registerReadonlyFiles(scheme: string, read: ReadDocument): Disposable {
  const noEvents = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  const refuse = (): never => {
    throw vscode.FileSystemError.NoPermissions('This document is read-only.');
  };
  const content = async (uri: vscode.Uri): Promise<Uint8Array> => {
    const bytes = await read(uri);
    if (!bytes) throw vscode.FileSystemError.FileNotFound(uri);
    return bytes;
  };
  const registration = vscode.workspace.registerFileSystemProvider(
    scheme,
    {
      onDidChangeFile: noEvents.event,
      watch: () => unwatched,
      stat: async (uri) => ({
        type: vscode.FileType.File,
        ctime: 0,
        mtime: 0,
        size: (await content(uri)).byteLength,
        permissions: vscode.FilePermission.Readonly,
      }),
      readFile: content,
      readDirectory: () => [],
      createDirectory: refuse,
      writeFile: refuse,
      delete: refuse,
      rename: refuse,
    },
    { isReadonly: true, isCaseSensitive: true },
  );
  return {
    dispose: () => {
      registration.dispose();
      noEvents.dispose();
    },
  };
}

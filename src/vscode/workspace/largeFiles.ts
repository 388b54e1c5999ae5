import * as vscode from 'vscode';
import { DisposableStore } from '#core/base/disposable.ts';
import { isCancellation } from '#core/base/errors.ts';
import type { FsChannel } from '#core/container/fsChannel.ts';
import { abortOn } from '#vscode/cancellation.ts';
import { withoutLinks } from '#vscode/text.ts';

/** From here on reading takes long enough to show its progress, and to be stopped. */
export const largeFileBytes = 16 << 20;
/** VS Code takes a file in one piece, and holds it several times: a larger one would end its processes. */
export const maxFileBytes = 256 << 20;

type Files = Pick<FsChannel, 'stat' | 'readStream'>;

/**
 * A large file's content, held once: as it was when the reading began, where it grows meanwhile. Errors: as the
 * channel's; `Unavailable` for one that is too large, and when the person stops it.
 */
export async function readLargeFile(files: Files, path: string, name: string): Promise<Uint8Array> {
  const { size } = await files.stat(path);
  if (size > maxFileBytes) {
    throw vscode.FileSystemError.Unavailable(
      `${name} has ${megabytes(size)}, and files over ${megabytes(maxFileBytes)} are not opened in the editor: use a container terminal.`,
    );
  }
  const store = new DisposableStore();
  const controller = new AbortController();
  const title = `Reading ${withoutLinks(name)} (${megabytes(size)})`;
  try {
    return await vscode.window.withProgress(
      { location: vscode.ProgressLocation.Notification, cancellable: true, title },
      (progress, token) => {
        store.add(abortOn(token, controller));
        const onBytes = (bytes: number): void => progress.report({ increment: (100 * bytes) / size });
        return collect(files, path, size, controller.signal, onBytes);
      },
    );
  } catch (error) {
    if (!isCancellation(error)) throw error;
    throw vscode.FileSystemError.Unavailable(`The reading of ${name} was stopped.`);
  } finally {
    store.dispose();
  }
}

async function collect(
  files: Files,
  path: string,
  size: number,
  signal: AbortSignal,
  onBytes: (bytes: number) => void,
): Promise<Uint8Array> {
  const content = Buffer.allocUnsafe(size);
  let filled = 0;
  let told = 0;
  for await (const piece of files.readStream(path, { signal })) {
    filled += piece.copy(content, filled);
    if (filled === size) break;
    if (filled - told < size / 100) continue;
    onBytes(filled - told);
    told = filled;
  }
  return content.subarray(0, filled);
}

/** Shows that a large file is being saved; the work goes on by itself. */
export async function whileSaving<T>(name: string, size: number, work: Promise<T>): Promise<T> {
  if (size < largeFileBytes) return work;
  const title = `Saving ${withoutLinks(name)} (${megabytes(size)})`;
  return vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title }, () => work);
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1024 ** 2)} MB`;
}

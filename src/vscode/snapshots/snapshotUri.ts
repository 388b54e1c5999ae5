import * as vscode from 'vscode';
import { bytesToText, textToBytes } from '#vscode/workspace/attemptUri.ts';

/** A path as it was: `e2e-swe-snapshot:/<attempt>/<snapshot>/<path in the container>`. */
export const snapshotScheme = 'e2e-swe-snapshot';

export interface SnapshotPath {
  readonly attemptId: string;
  readonly snapshotId: string;
  /** Binary string without a slash in front, as a snapshot's entries have it. */
  readonly name: string;
}

export function snapshotUri({ attemptId, snapshotId, name }: SnapshotPath): vscode.Uri {
  return vscode.Uri.from({
    scheme: snapshotScheme,
    path: `/${attemptId}/${snapshotId}/${bytesToText(name)}`,
  });
}

export function parseSnapshotUri(uri: Pick<vscode.Uri, 'path'>): SnapshotPath {
  const [attemptId = '', snapshotId = '', ...parts] = uri.path.split('/').filter(Boolean);
  return { attemptId, snapshotId, name: textToBytes(parts.join('/')) };
}

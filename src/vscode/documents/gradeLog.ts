import { readFile, realpath } from 'node:fs/promises';
import path from 'node:path';
import * as vscode from 'vscode';
import { errorCode } from '#core/base/errors.ts';
import type { ReadDocument } from './readonlyFiles.ts';

export const gradeScheme = 'e2e-swe-grade';

/** The address of the verifier's log of a grade. */
export function gradeLogUri(taskName: string, gradeDir: string): vscode.Uri {
  return vscode.Uri.from({
    scheme: gradeScheme,
    path: `/${taskName.replaceAll('/', '-')} ${path.basename(gradeDir)} verifier.log`,
    query: encodeURIComponent(gradeDir),
  });
}

/** What the verifier printed; undefined when the grade ended before it ran. */
export async function readVerifierLog(gradeDir: string): Promise<Buffer | undefined> {
  for (const place of ['verifier/test-stdout.txt', 'test-stdout.txt']) {
    try {
      return await readFile(path.join(gradeDir, place));
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw error;
    }
  }
  return undefined;
}

/** Reads logs below the store only: an address can come from anywhere. */
export function readGradeDocument(storeDir: () => string): ReadDocument {
  return async (uri) => {
    const dir = await realpath(decodeURIComponent(uri.query));
    const store = await realpath(storeDir());
    if (!dir.startsWith(store + path.sep)) return undefined;
    return readVerifierLog(dir);
  };
}

import { readFile, realpath } from 'node:fs/promises';
import path from 'node:path';
import * as vscode from 'vscode';
import { isSealed } from '#core/attempt/sealedGrades.ts';
import { errorCode } from '#core/base/errors.ts';
import type { RevealGate } from '#vscode/attempts/revealGate.ts';
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

/**
 * Reads logs below the store only: an address can come from anywhere. One that the window restores by itself is not
 * shown while an attempt is measured at its task.
 */
export function readGradeDocument(storeDir: () => string, gate: RevealGate): ReadDocument {
  return async (uri) => {
    const named = decodeURIComponent(uri.query);
    const dir = await realpath(named);
    const store = await realpath(storeDir());
    if (!dir.startsWith(store + path.sep) || isSealed(store, dir)) return undefined;
    const log = await readVerifierLog(dir);
    const closed = log && (await closedBecause(gate, named));
    return closed === undefined ? log : Buffer.from(`${closed}\n`);
  };
}

async function closedBecause(gate: RevealGate, dir: string): Promise<string | undefined> {
  const { readGrade } = await import('#core/grading/store.ts');
  const grade = await readGrade(dir).catch(() => undefined);
  if (!grade) return undefined;
  const { task } = grade;
  return gate.closedBecause({ name: task.name, dir: task.path, gradedDigest: task.digest }, dir);
}

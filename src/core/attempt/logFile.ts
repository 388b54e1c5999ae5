import { type FileHandle, open } from 'node:fs/promises';
import path from 'node:path';
import { errorCode } from '#core/base/errors.ts';
import { syncFolder } from '#core/base/files.ts';

/** What is used of a file that is recorded into; tests give one that loses what was not synced. */
export type LogFile = Pick<FileHandle, 'read' | 'write' | 'stat' | 'truncate' | 'datasync' | 'close'>;

export type OpenLogFile = (file: string) => Promise<LogFile>;

/** Makes it where it is not there, for its owner's eyes only. Not in append mode: what a failed write left is written over. */
export async function openForWriting(file: string): Promise<LogFile> {
  try {
    return await open(file, 'r+');
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    const handle = await open(file, 'wx+', 0o600);
    await syncFolder(path.dirname(file));
    return handle;
  }
}

import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

/**
 * The file system of a folder, for people. One without a journal finds an inode for a new file only behind all those of
 * files that were removed in the last minutes (ext4, `recently_deleted`): every file that a container gets costs that.
 */
export async function diskOf(folder: string): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)('findmnt', ['-no', 'SOURCE,FSTYPE', '-T', folder]);
    const [device = '', type = ''] = stdout.trim().split(/\s+/);
    if (type !== 'ext4') return type;
    const journals = await readdir('/proc/fs/jbd2');
    const hasJournal = journals.some((name) =>
      name.startsWith(`${path.basename(device.split('[')[0] ?? '')}-`),
    );
    return `ext4 ${hasJournal ? 'with' : 'without'} a journal`;
  } catch {
    return 'an unknown file system';
  }
}

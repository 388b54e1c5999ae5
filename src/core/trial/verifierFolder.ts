import { constants } from 'node:fs';
import { lstat, open, readdir } from 'node:fs/promises';
import path from 'node:path';
import { readReports } from '#core/report/readReports.ts';
import { readReward } from '#core/report/readReward.ts';
import type { Mark, Report, Reward } from '#core/report/types.ts';

/** Bytes of one report or reward, and of all. */
const fileCap = 256 * 1024 ** 2;
const folderCap = 1024 ** 3;
/** Entries and levels that are looked at. */
const entryCap = 20_000;
const depthCap = 8;

/** What a `verifier/` folder on the host says. */
export interface VerifierFolder {
  readonly reward: Reward;
  readonly report: Report;
  readonly marks: readonly Mark[];
}

/**
 * Reads rewards and reports of one or more verifier folders: regular files only (a link is named, never followed: it
 * would be read on the host, harbor.md §4.6), capped. Several folders are the steps of one trial; the reward is that
 * of the last.
 */
export async function readVerifierFolders(
  folders: readonly { readonly label: string; readonly dir: string }[],
): Promise<VerifierFolder> {
  const files = new Map<string, Buffer>();
  const marks: Mark[] = [];
  let reward: Reward = { state: 'none' };
  for (const { label, dir } of folders) {
    const own = await readFolder(dir, marks);
    const rewardJson = own.get('reward.json');
    const rewardTxt = own.get('reward.txt');
    if (rewardJson || rewardTxt) reward = readReward({ rewardJson, rewardTxt });
    for (const [name, data] of own) files.set(label ? `${label}/${name}` : name, data);
  }
  return { reward, report: readReports([...files].map(([name, data]) => ({ name, data }))), marks };
}

async function readFolder(dir: string, marks: Mark[]): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  let seen = 0;
  let bytes = 0;
  const visit = async (relative: string, depth: number): Promise<void> => {
    const names = await readdir(path.join(dir, relative)).catch(() => []);
    for (const name of names.sort()) {
      if (++seen > entryCap) return;
      const child = relative ? `${relative}/${name}` : name;
      const place = path.join(dir, child);
      const info = await lstat(place).catch(() => undefined);
      if (info?.isDirectory()) {
        if (depth < depthCap) await visit(child, depth + 1);
        continue;
      }
      if (!/(?:\.json|^reward\.txt)$/.test(child)) continue;
      if (!info?.isFile()) {
        marks.push({
          rule: 'result-not-a-file',
          message: `${child} is not a regular file; it was not read.`,
        });
        continue;
      }
      bytes += info.size;
      if (info.size > fileCap || bytes > folderCap) {
        marks.push({
          rule: 'result-too-large',
          message: `${child} has ${info.size} bytes; it was not read.`,
        });
        continue;
      }
      files.set(child, await readRegular(place));
    }
  };
  if ((await lstat(dir).catch(() => undefined))?.isDirectory()) await visit('', 0);
  return files;
}

async function readRegular(file: string): Promise<Buffer> {
  const handle = await open(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
  try {
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

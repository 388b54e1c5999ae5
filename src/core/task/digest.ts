import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { ignoreMatcher } from './gitignore.ts';

/** Harbor's hashes of a task folder (harbor.md §8.3). Modes and times are in none; line ends are. */

const SINGLE_FILES = ['task.toml', 'instruction.md', 'README.md', 'trajectory.json'];
const FOLDERS = ['environment', 'tests', 'solution', 'steps'];
/** The line breaks of Python's `splitlines`, but for CR LF. */
const BREAKS = '\\n\\v\\f\\r\\x1c-\\x1e\\x85\\u2028\\u2029';
const LINE_BREAK = new RegExp(`\\r\\n|[${BREAKS}]`);
/** What is left out where the task has no .gitignore. */
const DEFAULT_IGNORES = ['__pycache__/', '*.pyc', '.DS_Store', '*.swp', '*.swo', '*~'];
const NOT_ENVIRONMENT = ['.DS_Store', '.git', '__pycache__'];

/** The content digest, `sha256:` and 64 hex digits: of everything that Harbor publishes of a task. */
export async function contentDigest(dir: string): Promise<string> {
  return digestOf(dir, await contentFiles(dir));
}

/** The same over `tests/**` alone. */
export async function testsDigest(dir: string): Promise<string> {
  const files = await contentFiles(dir);
  return digestOf(
    dir,
    files.filter((file) => file.startsWith('tests/')),
  );
}

/** The files in the content digest: relative, forward slashes, in code-point order. */
export async function contentFiles(dir: string): Promise<readonly string[]> {
  const ignored = ignoreMatcher(await ignoreLines(dir));
  const files: string[] = [];
  for (const name of SINGLE_FILES) if (await isFile(path.join(dir, name))) files.push(name);
  for (const name of FOLDERS) files.push(...(await filesBelow(path.join(dir, name), name)));
  return files.filter((file) => !ignored(file)).sort(byCodePoint);
}

/**
 * Harbor's `environment_id`, 32 hex digits: the content of `environment/` without symbolic links; where that is
 * empty or missing, the image's name, else the folder's.
 */
export async function environmentId(
  environmentDir: string,
  dockerImage: string | null = null,
): Promise<string> {
  const files = (await filesBelow(environmentDir, '', { links: false }))
    .filter((file) => !file.split('/').some((part) => NOT_ENVIRONMENT.includes(part)))
    .sort(byCodePoint);
  const hash = createHash('sha256');
  if (files.length === 0) hash.update(dockerImage || path.basename(environmentDir));
  for (const file of files) {
    addSized(hash, Buffer.from(file));
    addSized(hash, await readFile(path.join(environmentDir, file)));
  }
  return hash.digest('hex').slice(0, 32);
}

function addSized(hash: Hash, data: Buffer): void {
  const size = Buffer.alloc(4);
  size.writeUInt32BE(data.length);
  hash.update(size).update(data);
}

async function digestOf(dir: string, files: readonly string[]): Promise<string> {
  const outer = createHash('sha256');
  for (const file of files) {
    const inner = createHash('sha256');
    for await (const chunk of createReadStream(path.join(dir, file))) inner.update(chunk as Buffer);
    outer.update(`${file}\0${inner.digest('hex')}\n`);
  }
  return `sha256:${outer.digest('hex')}`;
}

async function ignoreLines(dir: string): Promise<readonly string[]> {
  const file = path.join(dir, '.gitignore');
  if (!(await isFile(file))) return DEFAULT_IGNORES;
  return (await readFile(file, 'utf8')).split(LINE_BREAK);
}

/** Regular files below a folder, links to files among them; links to folders are not followed. */
async function filesBelow(
  folder: string,
  under: string,
  options: { readonly links: boolean } = { links: true },
): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const out: string[] = [];
  for (const entry of entries) {
    const relative = under === '' ? entry.name : `${under}/${entry.name}`;
    const full = path.join(folder, entry.name);
    if (entry.isDirectory()) out.push(...(await filesBelow(full, relative, options)));
    else if (entry.isFile()) out.push(relative);
    else if (options.links && entry.isSymbolicLink() && (await isFile(full))) out.push(relative);
  }
  return out;
}

async function isFile(file: string): Promise<boolean> {
  return stat(file).then(
    (info) => info.isFile(),
    () => false,
  );
}

/** UTF-8 bytes sort as code points do; JavaScript's own order is that of UTF-16. */
function byCodePoint(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

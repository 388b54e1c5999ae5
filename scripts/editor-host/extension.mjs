import { cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { editorHostPaths } from '../lib/editorHost.mjs';
import { PlainError } from '../lib/log.mjs';
import { capture } from '../lib/run.mjs';

// The parts of this repository that make up the extension, as in its .vsix.
const EXTENSION_PARTS = [
  'package.json',
  'package.nls.json',
  'README.md',
  'CHANGELOG.md',
  'LICENSE',
  'dist',
  'media',
  'tasks',
];

/**
 * Installs an extension: a .vsix through the server's own installer, a folder of this repository by copying its parts
 * (the server takes up what lies in its extensions folder when it starts for the first time).
 */
export async function installExtension(from, extensionsDir, env) {
  const source = resolve(from);
  mkdirSync(extensionsDir, { recursive: true });
  if (source.endsWith('.vsix')) {
    const { node, server } = editorHostPaths();
    const flags = [
      '--accept-server-license-terms',
      '--extensions-dir',
      extensionsDir,
      '--install-extension',
      source,
    ];
    const { code, stdout, stderr } = await capture(node, [server, ...flags], { env });
    if (code !== 0) throw new PlainError(`${source} cannot be installed:\n${stdout}${stderr}`);
    return;
  }
  const { publisher, name, version, main } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'));
  if (main && !existsSync(join(source, main))) {
    throw new PlainError(`${join(source, main)} is missing. Build it first: npm run build`);
  }
  const place = join(extensionsDir, `${publisher}.${name}-${version}`);
  for (const part of EXTENSION_PARTS.filter((one) => existsSync(join(source, one)))) {
    cpSync(join(source, part), join(place, part), {
      recursive: true,
      filter: (path) => !path.endsWith('test-host') && !path.endsWith('.vsix'),
    });
  }
}

// Bundles the extension and the command line (CommonJS: what the extension host loads most safely).
import { cpSync, mkdirSync } from 'node:fs';
import { build, context } from 'esbuild';

const production = process.argv.includes('--production');
const watch = process.argv.includes('--watch');

/** dockerode reads its .proto files from beside the bundle at run time. */
function shipProtoFiles() {
  mkdirSync('dist/proto', { recursive: true });
  cpSync('node_modules/dockerode/lib/proto', 'dist/proto', { recursive: true });
}

const common = {
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'cjs',
  minify: production,
  sourcemap: !production,
  // ssh2's optional native parts: pure JavaScript takes over when they are absent.
  external: ['vscode', 'cpu-features'],
  loader: { '.node': 'empty' },
  logLevel: 'warning',
};

const targets = [
  { ...common, entryPoints: ['src/extension.ts'], outfile: 'dist/extension.cjs' },
  { ...common, entryPoints: ['src/guard.ts'], outfile: 'dist/guard.cjs' },
  { ...common, entryPoints: ['src/cli.ts'], outfile: 'dist/cli.cjs', banner: { js: '#!/usr/bin/env node' } },
];

shipProtoFiles();
if (watch) for (const target of targets) await (await context(target)).watch();
else await Promise.all(targets.map((target) => build(target)));

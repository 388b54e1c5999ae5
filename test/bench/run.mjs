// `npm run bench`: bundles the bench with the core that it measures, and runs it.
import { spawnSync } from 'node:child_process';
import { build } from 'esbuild';

await build({
  entryPoints: ['test/bench/bench.ts'],
  outfile: 'dist/bench.cjs',
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'cjs',
  external: ['cpu-features'],
  // What the editor's parts cost is measured without an editor.
  alias: { vscode: './test/fakes/vscode.ts' },
  loader: { '.node': 'empty' },
  logLevel: 'warning',
});
process.exit(
  spawnSync(process.execPath, ['dist/bench.cjs', ...process.argv.slice(2)], { stdio: 'inherit' }).status ?? 1,
);

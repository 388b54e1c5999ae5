// Runs the bundled extension-host suites: in the editor host, or with --desktop in desktop VS Code.
// A process of its own, so that scripts/test.mjs can end it as a whole.
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { downloadAndUnzipVSCode, runTests } from '@vscode/test-electron';
import { QUIET_SETTINGS } from './editor-host/settings.mjs';
import { HOST_ENTRY } from './lib/hostSuite.mjs';
import { cacheDir, ROOT } from './lib/paths.mjs';

async function executable(desktop) {
  if (!desktop) return fileURLToPath(new URL('editor-host/launcher.mjs', import.meta.url));
  const cachePath = join(cacheDir(), 'desktop');
  mkdirSync(cachePath, { recursive: true });
  return downloadAndUnzipVSCode({ version: process.env.E2E_SWE_VSCODE_VERSION ?? 'stable', cachePath });
}

/** The folder that is open during the tests: the bundled tasks. */
function workspaceFolder(temp) {
  const tasks = join(ROOT, 'tasks');
  if (existsSync(tasks)) return tasks;
  const empty = join(temp, 'workspace');
  mkdirSync(empty);
  return empty;
}

// A short path: desktop VS Code keeps its socket below the user data folder.
const temp = mkdtempSync(join(tmpdir(), 'host-'));
try {
  const userData = join(temp, 'user');
  mkdirSync(join(userData, 'User'), { recursive: true });
  writeFileSync(join(userData, 'User/settings.json'), JSON.stringify(QUIET_SETTINGS, undefined, 2));
  await runTests({
    vscodeExecutablePath: await executable(process.argv.includes('--desktop')),
    extensionDevelopmentPath: ROOT,
    extensionTestsPath: HOST_ENTRY,
    extensionTestsEnv: { E2E_SWE_HOST_COLOR: process.stdout.isTTY ? '1' : '0' },
    launchArgs: [
      workspaceFolder(temp),
      `--user-data-dir=${userData}`,
      `--extensions-dir=${join(temp, 'extensions')}`,
      '--disable-extensions',
    ],
  });
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
} finally {
  rmSync(temp, { recursive: true, force: true, maxRetries: 5 });
}

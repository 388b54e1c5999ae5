import { PlainError, say } from './log.mjs';
import { which } from './paths.mjs';
import { capture, startGroup } from './run.mjs';

/** The command of a desktop VS Code that can open a window here, or undefined. */
export async function findDesktopCode(env = process.env) {
  const code = which('code', env);
  if (!code || env.VSCODE_IPC_HOOK_CLI) return undefined; // In a remote terminal `code` only talks to its own window.
  if (process.platform === 'linux' && !env.DISPLAY && !env.WAYLAND_DISPLAY) return undefined;
  const { code: exit, stdout } = await capture(code, ['--version']).catch(() => ({ code: 1, stdout: '' }));
  return exit === 0 && /^\d+\.\d+\.\d+/.test(stdout) ? code : undefined;
}

/** Opens a window with the extension loaded from the repository, and waits until it is closed. */
export async function openDesktop(code, root, folder) {
  say('Opening desktop VS Code. Close its window, or press Ctrl-C, to stop what was started for it.');
  // `--wait` ends with the window; the window itself belongs to the user and is left alone.
  const group = startGroup(code, ['--new-window', '--wait', `--extensionDevelopmentPath=${root}`, folder]);
  const { code: exit, signal } = await group.done;
  if (exit !== 0) throw new PlainError(`VS Code ended with ${signal ?? `exit code ${exit}`}.`);
}

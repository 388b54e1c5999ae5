import { existsSync } from 'node:fs';
import { aptCommands, aptInstall, hasApt, isUbuntu } from './apt.mjs';
import { which } from './paths.mjs';

// `chromium-browser` comes last: on Ubuntu it can be a mere hint to install a snap.
const NAMES = ['chromium', 'google-chrome', 'google-chrome-stable', 'chromium-browser'];
const PACKAGES = ['chromium', 'fonts-dejavu-core'];
const MAC = '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome';

/** The browser that the tests drive (CHROMIUM names another), or undefined. */
export function findChromium(env = process.env) {
  if (env.CHROMIUM) return env.CHROMIUM;
  return NAMES.map((name) => which(name, env)).find(Boolean) ?? (existsSync(MAC) ? MAC : undefined);
}

/** The step that installs Chromium, or undefined where there is a browser. */
export async function planChromium() {
  if (findChromium()) return undefined;
  const title = 'Install Chromium, which the editor tests drive';
  if (!hasApt() || isUbuntu()) {
    const blocked =
      'Neither Chromium nor Google Chrome was found. Install one, or name it in the variable CHROMIUM.';
    return { title, commands: [], blocked };
  }
  return { title, commands: aptCommands(PACKAGES), run: () => aptInstall(PACKAGES) };
}

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FrameLocator, Locator, Page } from 'playwright-core';
import { afterEach } from 'vitest';
import { CONTEXT, launchBrowser } from '../../../scripts/editor-host/browser.mjs';
import { startServer } from '../../../scripts/editor-host/server.mjs';

/** The repository's top folder, whose built extension the tests install. */
export const REPO = fileURLToPath(new URL('../../..', import.meta.url));

const SHOTS = join(REPO, 'test-results/screenshots');
const WORKBENCH_MS = 40_000;
const STEP_MS = 20_000;
const NEW_WINDOW_MS = 240_000;

export interface WorkbenchOptions {
  /** The folder to open; absent: an empty window. */
  folder?: string;
  /** User settings on top of the quiet ones. */
  settings?: Record<string, unknown>;
  /** A folder with a built extension, or a .vsix. */
  extensionFrom?: string;
  viewport?: { width: number; height: number };
  /** A colour theme by its name, e.g. "Light Modern". */
  theme?: string;
  /** Themes that `shoot` can change, instead of one. */
  manyThemes?: boolean;
  /** More environment for the extension, e.g. DOCKER_HOST. */
  env?: Record<string, string>;
}

/** A real workbench in headless Chromium, driven as a person would. */
export interface Workbench {
  page: Page;
  /** Keeps a picture in test-results/screenshots. */
  screenshot(name: string): Promise<void>;
  /** Keeps pictures in three themes and in a narrow window, and disturbs nothing that is open. */
  shoot(name: string): Promise<void>;
  /** Runs a command from the palette by its full title ("E2E-SWE: Grade"). */
  runCommand(title: string): Promise<void>;
  /** Chooses an entry of the open quick pick. */
  pick(label: string | RegExp): Promise<void>;
  /** Answers the open input box. */
  type(text: string): Promise<void>;
  /** Shows a container of the activity bar; badges may follow its title. */
  showContainer(title: string): Promise<void>;
  /** The rows of a tree view. */
  tree(name: string | RegExp): Locator;
  /** The messages of the notifications on screen, or those with the text. */
  notification(text?: string | RegExp): Locator;
  /** The open modal dialog. */
  dialog(): Locator;
  /** The document of the open webview. */
  webview(): FrameLocator;
  /** The window that opens while something is done in this one; it shares server and browser. */
  newWindow(cause: () => Promise<unknown>): Promise<Workbench>;
  /** Opens the address again, as a reload of the window does. */
  reload(): Promise<void>;
  /** What the server and its extension hosts printed. */
  serverLog(): string;
  close(): Promise<void>;
}

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Starts a server and a browser and opens the workbench: once per test file, it takes several seconds. */
export async function openWorkbench(options: WorkbenchOptions = {}): Promise<Workbench> {
  const server = await startServer({
    settings: {
      ...(options.theme && { 'workbench.colorTheme': options.theme }),
      ...(options.manyThemes && followedThemes),
      ...options.settings,
    },
    ...(options.extensionFrom && { extensionFrom: options.extensionFrom }),
    ...(options.env && { env: options.env }),
  });
  const browser = await launchBrowser().catch(async (error) => {
    await server.stop();
    throw error;
  });
  const close = async () => {
    await browser.close().catch(() => {});
    await server.stop();
  };
  try {
    const context = await browser.newContext({
      ...CONTEXT,
      ...(options.manyThemes && { colorScheme: 'dark' as const }),
      ...(options.viewport && { viewport: options.viewport }),
    });
    await context.addInitScript(contrastSwitch);
    const page = await context.newPage();
    page.setDefaultTimeout(STEP_MS);
    const open = async () => {
      await page.goto(server.url(options.folder));
      await page.locator('.monaco-workbench').waitFor({ timeout: WORKBENCH_MS });
      // Extensions have been found once the status bar shows the remote indicator's host.
      await page.locator('.statusbar .statusbar-item').first().waitFor({ timeout: WORKBENCH_MS });
    };
    await open();
    const windowOn = (own: Page, reload: () => Promise<void>): Workbench => ({
      ...{ page: own, ...actions(own), reload, serverLog: () => server.log(), close },
      shoot: (name) => shoot(own, name),
      newWindow: async (cause) => {
        const [opened] = await Promise.all([
          context.waitForEvent('page', { timeout: NEW_WINDOW_MS }),
          cause(),
        ]);
        opened.setDefaultTimeout(STEP_MS);
        const ready = () => opened.locator('.monaco-workbench').waitFor({ timeout: WORKBENCH_MS });
        await ready();
        return windowOn(opened, async () => {
          await opened.reload();
          await ready();
        });
      },
    });
    return windowOn(page, open);
  } catch (error) {
    await close();
    throw error;
  }
}

function actions(page: Page) {
  const input = page.locator('.quick-input-widget:visible input').first();
  const rows = page.locator('.quick-input-list .monaco-list-row');

  async function openPalette() {
    for (let attempt = 1; ; attempt++) {
      await page.keyboard.press('F1');
      try {
        return await input.waitFor({ timeout: 3_000 });
      } catch (error) {
        if (attempt === 5) throw error;
      }
    }
  }

  return {
    async screenshot(name: string) {
      mkdirSync(SHOTS, { recursive: true });
      await page.screenshot({ path: join(SHOTS, `${name}.png`) });
    },
    async runCommand(title: string) {
      const label = page.locator('.label-name', { hasText: new RegExp(`^${escaped(title)}$`) });
      for (let attempt = 1; ; attempt++) {
        await openPalette();
        try {
          await input.fill(`>${title}`, { timeout: 5_000 });
          return await rows.filter({ has: label }).first().click({ timeout: 5_000 });
        } catch (error) {
          // On a busy machine something may take the focus, which closes the palette before the click.
          if (attempt === 4) throw error;
          await page.keyboard.press('Escape');
        }
      }
    },
    async pick(label: string | RegExp) {
      await rows.filter({ hasText: label }).first().click();
    },
    async type(text: string) {
      await input.fill(text);
      await input.press('Enter');
    },
    async showContainer(title: string) {
      const tab = page.locator('.activitybar').getByRole('tab', { name: new RegExp(`^${escaped(title)}`) });
      await tab.waitFor({ timeout: WORKBENCH_MS });
      if ((await tab.getAttribute('aria-expanded')) !== 'true') await tab.click();
    },
    tree: (name: string | RegExp) => page.getByRole('tree', { name }).getByRole('treeitem'),
    notification(text?: string | RegExp) {
      const all = page.locator('.notifications-toasts .notification-list-item-message');
      return text === undefined ? all : all.filter({ hasText: text });
    },
    dialog: () => page.locator('.monaco-dialog-box'),
    webview: () => page.frameLocator('iframe.webview.ready').frameLocator('#active-frame'),
  };
}

/** The workbench takes the theme that the machine prefers, which a page can change without touching anything in it. */
const followedThemes = {
  'window.autoDetectColorScheme': true,
  'workbench.preferredDarkColorTheme': 'Dark Modern',
  'workbench.preferredLightColorTheme': 'Light Modern',
  'workbench.preferredHighContrastColorTheme': 'Default High Contrast',
};

/**
 * Says that the machine wants high contrast, or not. The browser's own emulation would paint the page in colours of its
 * own, which VS Code's theme replaces in a real one.
 */
const contrastSwitch = `{
  const real = window.matchMedia.bind(window);
  const contrast = Object.assign(new EventTarget(), { matches: false });
  window.matchMedia = (query) => (query === '(forced-colors: active)' ? contrast : real(query));
  window.setContrast = (wanted) => {
    contrast.matches = wanted;
    contrast.dispatchEvent(new Event('change'));
  };
}`;

/** Themes by the word in a picture's name, each with a part of the class that the workbench has then. */
const themes = [
  { word: 'light', colorScheme: 'light', contrast: false, mark: 'light_modern' },
  { word: 'contrast', colorScheme: 'dark', contrast: true, mark: 'hc_black' },
  { word: 'dark', colorScheme: 'dark', contrast: false, mark: 'dark_modern' },
] as const;

async function shoot(page: Page, name: string): Promise<void> {
  mkdirSync(SHOTS, { recursive: true });
  const size = page.viewportSize() ?? { width: 1400, height: 900 };
  for (const { word, colorScheme, contrast, mark } of themes) {
    await page.emulateMedia({ colorScheme });
    await page.evaluate(`window.setContrast(${contrast})`);
    await page.locator(`.monaco-workbench[class*="${mark}"]`).waitFor();
    await page.waitForTimeout(300);
    await page.screenshot({ path: join(SHOTS, `${name}-${word}.png`) });
  }
  await page.setViewportSize({ width: 480, height: size.height });
  await page.waitForTimeout(500);
  await page.screenshot({ path: join(SHOTS, `${name}-narrow.png`) });
  await page.setViewportSize(size);
}

/** Keeps a picture of every failed test of a file. */
export function shootFailures(workbench: () => Workbench | undefined): void {
  afterEach(async ({ task }) => {
    if (task.result?.state !== 'fail') return;
    await workbench()?.screenshot(`failed-${task.name.replace(/\W+/g, '-')}`);
  });
}

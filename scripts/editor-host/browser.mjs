import { chromium } from 'playwright-core';
import { findChromium } from '../lib/chromium.mjs';
import { PlainError } from '../lib/log.mjs';

// The background-networking flags keep Chromium from looking things up on its own.
const FLAGS = [
  '--no-sandbox',
  '--disable-dev-shm-usage',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Starts the headless browser that shows the workbench. */
export async function launchBrowser() {
  const executablePath = findChromium();
  if (!executablePath) throw new PlainError('No Chromium was found. "npm test -- --yes" installs it.');
  return chromium.launch({ executablePath, headless: true, args: FLAGS });
}

/** What a page needs to show a workbench. */
export const CONTEXT = {
  viewport: { width: 1400, height: 900 },
  permissions: ['clipboard-read', 'clipboard-write'],
};

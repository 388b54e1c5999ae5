import type { Browser, BrowserContextOptions } from 'playwright-core';

export function launchBrowser(): Promise<Browser>;
export const CONTEXT: BrowserContextOptions;

import { type Browser, chromium } from 'playwright-core';
import { findChromium } from '../../../scripts/lib/findChromium.mjs';

/** Starts the installed Chromium without a display. */
export function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: findChromium(process.env),
    args: [
      // Chromium refuses to run as root with its sandbox, and a container's /dev/shm may be tiny.
      '--no-sandbox',
      '--disable-dev-shm-usage',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--no-first-run',
    ],
  });
}

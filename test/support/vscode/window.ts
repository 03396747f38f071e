import { basename } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Browser, Frame, Locator, Page } from 'playwright-core';
import { windowAddress } from '../../../scripts/lib/vscodeServer.mjs';
import { launchBrowser } from './browser';
import { type Settings, startTestServer } from './testServer';

/** Two loaded cores can be slow; a wait ends as soon as the thing is there. */
const PATIENCE_MS = 60_000;

/** A first try may meet a window that still settles, or a file index that is not ready; then it is made again. */
const TRY_MS = 5_000;

/** The colour themes of VS Code that the tests show, as they are listed, and with the file that a class is named after. */
const themes = {
  light: { label: 'Light Modern', file: 'light_modern' },
  dark: { label: 'Dark Modern', file: 'dark_modern' },
  'high contrast': { label: 'Dark High Contrast', file: 'hc_black' },
  'high contrast light': { label: 'Light High Contrast', file: 'hc_light' },
} as const;

export interface WindowOptions {
  readonly folder: string;
  /** The packed extension; a window without it when undefined. */
  readonly vsix?: string;
  readonly settings?: Settings;
  readonly asksForTrust?: boolean;
  readonly env?: NodeJS.ProcessEnv;
}

/**
 * A VS Code window, and what a person does and sees in it. Each step waits for what it needs; what answers a locator
 * finds what is visible now, and is waited for by the test.
 */
export interface CodeWindow {
  readonly page: Page;

  /** Runs a command of the palette by its full title, for example "Shardboard: Start Local Ray Cluster". */
  runCommand(title: string): Promise<void>;
  /** Opens a file of the workspace by its path, or the end of it. */
  quickOpen(path: string): Promise<void>;
  /** Types into the question that is asked at the top, and confirms. Answers the question's text before that. */
  answer(text: string): Promise<void>;
  /** Takes one of the choices that are offered at the top. */
  pick(label: string): Promise<void>;
  /** Opens a view container of the activity bar. */
  openActivity(label: string): Promise<void>;
  /** Reloads the window as its own command does, and waits until it is there again. */
  reload(): Promise<void>;
  /** Switches the colour theme, and waits until it is on. */
  setTheme(theme: keyof typeof themes): Promise<void>;
  screenshot(path: string): Promise<void>;

  /** The question that is asked at the top, with its choices. */
  readonly question: Locator;
  codeLens(text: string | RegExp): Locator;
  /** A notification. */
  toast(text: string | RegExp): Locator;
  /** A modal dialog. */
  dialog(text: string | RegExp): Locator;
  /** A button of a toast, a dialog or a view. */
  button(inside: Locator, label: string): Locator;
  statusBarItem(text: string | RegExp): Locator;
  treeRow(view: string, text: string | RegExp): Locator;
  /** The webview that shows `selector`, visibly; waits for it. */
  webview(selector: string): Promise<Frame>;

  close(): Promise<void>;
}

/** Opens a window on a folder. */
export async function openWindow({ folder, vsix, settings, asksForTrust, env }: WindowOptions): Promise<CodeWindow> {
  const server = await startTestServer({
    ...(vsix === undefined ? {} : { vsix }),
    // Ends the server minutes after its last window went, for a test that is killed outright; a reload is quicker.
    args: ['--enable-remote-auto-shutdown'],
    ...(settings === undefined ? {} : { settings }),
    ...(asksForTrust === undefined ? {} : { asksForTrust }),
    ...(env === undefined ? {} : { env }),
  });
  let browser: Browser | undefined;
  const close = async (): Promise<void> => {
    await browser?.close();
    await server.stop();
  };
  try {
    browser = await launchBrowser();
    const context = await browser.newContext({
      viewport: { width: 1400, height: 900 },
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    await page.goto(windowAddress(server, { folder }));
    await untilReady(page);
    return { ...stepsIn(page), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Makes tries of something that may fail while the window still settles. */
async function untilDone(attempt: () => Promise<void>): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    try {
      await attempt();
      return;
    } catch (error) {
      if (Date.now() > deadline) {
        throw error;
      }
    }
  }
}

async function untilReady(page: Page): Promise<void> {
  await page.locator('.monaco-workbench .part.statusbar').waitFor();
  await page
    .locator('.explorer-folders-view .monaco-list-row')
    .first()
    .or(page.locator('.part.sidebar'))
    .first()
    .waitFor();
}

function stepsIn(page: Page): Omit<CodeWindow, 'close'> {
  const question = page.locator('.quick-input-widget:visible');
  const input = question.locator('.quick-input-box input').first();
  const choice = (label: string): Locator =>
    question.locator('.quick-input-list .monaco-list-row').filter({ hasText: label }).first();

  /** Opens the box at the top with a key, types and takes the row that comes; again, when the window was not ready. */
  const takeFromBox = async (key: string, text: string, label: string): Promise<void> => {
    await untilDone(async () => {
      // Closes what an earlier try has left open.
      await page.keyboard.press('Escape');
      await page.keyboard.press(key);
      await input.waitFor({ timeout: TRY_MS });
      await input.fill(text);
      await choice(label).click({ timeout: TRY_MS });
    });
  };

  return {
    page,
    question,
    runCommand: (title) => takeFromBox('F1', `>${title}`, title),
    async quickOpen(path) {
      await takeFromBox('Control+P', path, basename(path));
      await page
        .locator('.tab.active')
        .filter({ hasText: basename(path) })
        .waitFor();
    },
    async answer(text) {
      await input.waitFor();
      await input.fill(text);
      await input.press('Enter');
    },
    async pick(label) {
      await choice(label).click();
    },
    async openActivity(label) {
      await page.locator(`.part.activitybar .action-item [aria-label^="${label}"]`).first().click();
    },
    async reload() {
      // The window's own command lets it write down what is open; a reload of the page loses what is not written yet.
      const gone = page.waitForEvent('framenavigated', (frame) => frame === page.mainFrame());
      await takeFromBox('F1', '>Developer: Reload Window', 'Developer: Reload Window');
      await gone;
      await untilReady(page);
    },
    async setTheme(theme) {
      const { label, file } = themes[theme];
      await takeFromBox('F1', '>Preferences: Color Theme', 'Preferences: Color Theme');
      await question.getByPlaceholder('Select Color Theme').waitFor();
      await input.fill(label);
      await choice(label).click();
      await page.locator(`.monaco-workbench.vscode-theme-defaults-themes-${file}-json`).waitFor();
    },
    async screenshot(path) {
      await page.screenshot({ path });
    },
    codeLens: (text) => page.locator('.codelens-decoration a').filter({ hasText: text }),
    toast: (text) => page.locator('.notifications-toasts .notification-toast').filter({ hasText: text }),
    dialog: (text) => page.locator('.monaco-dialog-box').filter({ hasText: text }),
    button: (inside, label) => inside.locator('.monaco-button').filter({ hasText: label }),
    statusBarItem: (text) => page.locator('.part.statusbar .statusbar-item').filter({ hasText: text }),
    treeRow: (view, text) =>
      page.locator('.pane').filter({ hasText: view }).locator('.monaco-list-row').filter({ hasText: text }),
    async webview(selector) {
      const deadline = Date.now() + PATIENCE_MS;
      for (;;) {
        for (const frame of page.frames()) {
          // A webview is two frames, the inner one replaced while it loads: a frame may go while it is asked.
          if (
            await frame
              .locator(selector)
              .first()
              .isVisible()
              .catch(() => false)
          ) {
            return frame;
          }
        }
        if (Date.now() > deadline) {
          throw new Error(`No webview shows ${selector}.`);
        }
        await wait(100);
      }
    },
  };
}

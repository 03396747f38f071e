/** The results page in a browser without VS Code: as it ships, with VS Code's colours and messages. */
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, extname, join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import type { RunSnapshot } from '../../src/protocol/runSnapshot';
import { webviewHtml } from '../../src/views/webviewHtml';
import { type ThemeName, themeClasses, themes } from './pageHarnessThemes';

/** A server of the page. */
export interface PageServer {
  readonly address: string;
  close(): Promise<void>;
}

const contentTypes: Record<string, string> = {
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.ttf': 'font/ttf',
};

/**
 * Serves the page on loopback.
 *
 * @param dist folder with the built page, as it ships.
 */
export async function servePage(dist: string): Promise<PageServer> {
  const server = createServer(async (request, response) => {
    const { pathname, searchParams, origin } = new URL(request.url ?? '/', `http://${request.headers.host}`);
    if (pathname === '/') {
      const html = webviewHtml({
        cspSource: origin,
        nonce: 'bm9uY2U=',
        script: `${origin}/results-page.js`,
        styles: [`${origin}/codicon.css`, `${origin}/results-page.css`],
        place: searchParams.get('place') === 'view' ? 'view' : 'panel',
      });
      response.setHeader('content-type', 'text/html').end(html);
      return;
    }
    try {
      const content = await readFile(join(dist, basename(pathname)));
      response.setHeader('content-type', contentTypes[extname(pathname)] ?? 'application/octet-stream').end(content);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    address: `http://127.0.0.1:${port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** How to show the page. */
export interface PageLook {
  readonly theme: ThemeName;
  readonly width: number;
  readonly height: number;
  readonly place: 'view' | 'panel';
  /** What the page's clock says, in milliseconds since 1970; the real time when left out. */
  readonly now?: number;
  /** What the page had kept with VS Code before. */
  readonly kept?: unknown;
}

/** The page in the browser, with what it said and what went wrong. */
export interface OpenPage {
  readonly page: Page;
  /** Violations of the security policy and errors of the page's script. */
  readonly faults: string[];
  /** What the page has posted to the extension. */
  posted(): Promise<unknown[]>;
  /** What the page keeps with VS Code now. */
  kept(): Promise<unknown>;
  send(run: RunSnapshot | null): Promise<void>;
}

/** Opens the page with a stand-in for VS Code's side of the webview, and waits until it says that it is ready. */
export async function openPage(browser: Browser, server: PageServer, look: PageLook): Promise<OpenPage> {
  const context = await browser.newContext({ viewport: { width: look.width, height: look.height } });
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') {
      faults.push(message.text());
    }
  });
  page.on('pageerror', (error) => faults.push(String(error)));
  if (look.now !== undefined) {
    await page.clock.setFixedTime(look.now);
  }
  await page.addInitScript(standInForVsCode, {
    variables: {
      ...themes[look.theme],
      'font-family': 'system-ui, "Ubuntu", "Droid Sans", sans-serif',
      'font-size': '13px',
      'font-weight': 'normal',
      'editor-font-family': '"Droid Sans Mono", monospace',
      'editor-font-size': '13px',
    },
    background: themes[look.theme][look.place === 'view' ? 'sideBar-background' : 'editor-background'],
    bodyClass: themeClasses[look.theme],
    kept: look.kept,
  });
  await page.goto(`${server.address}/?place=${look.place}`);
  const standIn = (): Promise<{ posted: unknown[]; kept: unknown }> =>
    page.evaluate(() => (window as unknown as { standIn: { posted: unknown[]; kept: unknown } }).standIn);
  await page.waitForFunction(() => 'standIn' in window);
  return {
    page,
    faults,
    posted: async () => (await standIn()).posted,
    kept: async () => (await standIn()).kept,
    send: (run) => page.evaluate((message) => window.postMessage(message, '*'), { type: 'snapshot', run }),
  };
}

/** Runs in the browser: what VS Code puts into a webview before the page's own script. */
function standInForVsCode(look: {
  variables: Record<string, string>;
  background: string;
  bodyClass: string;
  kept: unknown;
}): void {
  const standIn = { posted: [] as unknown[], kept: look.kept };
  Object.assign(window, {
    standIn,
    acquireVsCodeApi: () => ({
      postMessage: (message: unknown) => void standIn.posted.push(message),
      getState: () => standIn.kept,
      setState: (state: unknown) => {
        standIn.kept = state;
      },
    }),
  });
  document.addEventListener('DOMContentLoaded', () => {
    document.body.className = look.bodyClass;
  });
  // The root element is not there yet when this runs.
  new MutationObserver((_, observer) => {
    const root = document.documentElement;
    if (root) {
      observer.disconnect();
      for (const [name, value] of Object.entries(look.variables)) {
        root.style.setProperty(`--vscode-${name}`, value);
      }
      root.style.setProperty('background-color', look.background);
    }
  }).observe(document, { childList: true });
}

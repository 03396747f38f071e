#!/usr/bin/env node
/**
 * Stands in for the desktop VS Code's executable: `@vscode/test-electron` starts it with the same arguments. It runs the
 * tests in the extension host of the browser-served VS Code, prints what they print and exits 0 only when they say
 * themselves that they passed.
 */
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { atEnd, main } from '../../../scripts/lib/ending.mjs';
import { type VSCodeServer, windowAddress } from '../../../scripts/lib/vscodeServer.mjs';
import { launchBrowser } from './browser';
import { variables } from './shimVariables';
import { startTestServer } from './testServer';

interface Arguments {
  readonly extension: string;
  /** Further extensions, which the window has as installed ones: it can develop only one. */
  readonly others: readonly string[];
  readonly tests: string;
  /** What is opened: `folder` or `workspace`, and its path. */
  readonly opened: readonly [string, string] | undefined;
}

/** Of the many arguments of the desktop program, those that matter here; the server has folders of its own. */
function readArguments(): Arguments {
  const { values, positionals } = parseArgs({
    strict: false,
    allowPositionals: true,
    options: {
      extensionDevelopmentPath: { type: 'string', multiple: true },
      extensionTestsPath: { type: 'string' },
    },
  });
  const { extensionDevelopmentPath: extensions = [], extensionTestsPath: tests } = values;
  const [extension, ...others] = Array.isArray(extensions) ? extensions.filter((one) => typeof one === 'string') : [];
  if (extension === undefined || typeof tests !== 'string') {
    throw new Error('The shim needs --extensionDevelopmentPath and --extensionTestsPath.');
  }
  const path = positionals.map((given) => resolve(given)).find(existsSync);
  const isWorkspace = path?.endsWith('.code-workspace') === true;
  return {
    extension,
    others,
    tests,
    opened: path === undefined ? undefined : [isWorkspace ? 'workspace' : 'folder', path],
  };
}

async function runTests({ extension, others, tests, opened }: Arguments): Promise<number> {
  const exchange = await mkdtemp(join(tmpdir(), 'shim-'));
  atEnd(() => rm(exchange, { recursive: true, force: true }));
  const output = join(exchange, 'output');
  const outcome = join(exchange, 'outcome');
  await writeFile(output, '');
  const stopFollowing = await printAsItGrows(output);
  atEnd(stopFollowing);

  const server = await startTestServer({
    extensions: others,
    args: [
      // Without it, a released VS Code ignores the extension and the tests in its address.
      '--enable-smoke-test-driver',
      // Ends the server with its only window, even when this process is killed outright.
      '--enable-remote-auto-shutdown',
      '--remote-auto-shutdown-without-delay',
    ],
    env: { [variables.output]: output, [variables.outcome]: outcome, [variables.tests]: tests },
  });
  atEnd(() => server.stop());
  const browser = await launchBrowser();
  atEnd(() => browser.close());

  const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
  const ended = new Promise<string>((settle) => {
    page.on('crash', () => settle('the page crashed'));
    browser.on('disconnected', () => settle('the browser went away'));
    void server.ended.then(settle);
    void extensionHostEnd(server).then(settle);
    // VS Code calls these two when the page has them. Its exit code is not to be trusted: see extensionHostRunner.
    void page.exposeFunction('codeAutomationLog', () => undefined);
    void page.exposeFunction('codeAutomationExit', () => settle('the extension host ended before the tests did'));
  });
  const remote = (path: string): string => `vscode-remote://${server.authority}${encodeURI(resolve(path))}`;
  const payload = [
    ['extensionDevelopmentPath', remote(extension)],
    ['extensionTestsPath', remote(join(__dirname, 'extensionHostRunner.cjs'))],
    ['skipWelcome', 'true'],
  ];
  await page.goto(
    windowAddress(server, {
      ...(opened === undefined ? { ew: 'true' } : { [opened[0]]: opened[1] }),
      payload: JSON.stringify(payload),
    }),
  );

  const reason = await ended;
  await stopFollowing();
  if (!existsSync(outcome)) {
    console.error(`The tests did not run to their end: ${reason}.`);
    return 1;
  }
  return (await readFile(outcome, 'utf8')) === 'passed' ? 0 : 1;
}

/** Prints what is added to a file. The answer prints the rest and ends it. */
async function printAsItGrows(path: string): Promise<() => Promise<void>> {
  const file = await open(path);
  const buffer = Buffer.alloc(65_536);
  const print = async (): Promise<void> => {
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, buffer.length);
      if (bytesRead === 0) {
        return;
      }
      process.stdout.write(Uint8Array.from(buffer.subarray(0, bytesRead)));
    }
  };
  const following = new AbortController();
  const loop = (async () => {
    while (!following.signal.aborted) {
      await print();
      await wait(100, undefined, { signal: following.signal }).catch(() => undefined);
    }
  })();
  let stopped: Promise<void> | undefined;
  return () => {
    stopped ??= (async () => {
      following.abort();
      await loop;
      await print();
      await file.close();
    })();
    return stopped;
  };
}

/** Settles when the server's log says that the extension host is gone: the window would wait for it for minutes. */
async function extensionHostEnd(server: VSCodeServer): Promise<string> {
  let hasEnded = false;
  void server.ended.then(() => {
    hasEnded = true;
  });
  while (!hasEnded) {
    const end = /Extension Host Process exited with code: (\S+), signal: (\S+?)\./.exec(
      readFileSync(server.logFile, 'utf8'),
    );
    if (end !== null) {
      return `the extension host ended (code ${end[1]}, signal ${end[2]})`;
    }
    await wait(500);
  }
  return 'the server ended';
}

void main(() => runTests(readArguments()));

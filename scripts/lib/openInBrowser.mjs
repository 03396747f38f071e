import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atEnd } from './ending.mjs';
import { SetupError } from './setupError.mjs';
import { step } from './steps.mjs';
import { freePort, startVSCodeServer, windowAddress } from './vscodeServer.mjs';
import { ensureVSCodeWeb, vscodeWebPaths } from './vscodeWeb.mjs';

/** Starting values only: what the person changes in the window is kept. */
const FIRST_SETTINGS = {
  // Ray listens on a dozen ports, none of which is of use in a browser's tunnel.
  'remote.autoForwardPorts': false,
  'chat.disableAIFeatures': true,
  'telemetry.telemetryLevel': 'off',
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'workbench.startupEditor': 'readme',
};

/**
 * Serves a VS Code to the browser, on the samples and with the extension loaded, until a signal ends it.
 *
 * @param {string} root the project's folder, built
 * @returns {Promise<never>}
 * @throws {SetupError} when the server ends by itself
 */
export async function openInBrowser(root) {
  await step('VS Code for the browser', () => ensureVSCodeWeb(root));
  const userDataDir = join(root, '.vscode-web', 'user-data');
  await writeFirstSettings(userDataDir);
  const extensionsDir = await mkdtemp(join(tmpdir(), 'shardboard-extensions-'));
  atEnd(() => rm(extensionsDir, { recursive: true, force: true }));
  await symlink(root, join(extensionsDir, 'shardboard'));

  const port = await samePortAsBefore(root);
  const server = await startVSCodeServer({ program: vscodeWebPaths(root), userDataDir, extensionsDir, port });
  console.log(
    `\nOpen this address in a browser on this machine:\n\n  ${windowAddress(server, { folder: join(root, 'samples') })}\n\n` +
      'Press Ctrl+C here to end it.',
  );
  throw new SetupError(`${await server.ended}.`);
}

/** @param {string} userDataDir */
async function writeFirstSettings(userDataDir) {
  const settings = join(userDataDir, 'User', 'settings.json');
  if (!existsSync(settings)) {
    await mkdir(join(userDataDir, 'User'), { recursive: true });
    await writeFile(settings, `${JSON.stringify(FIRST_SETTINGS, null, 2)}\n`);
  }
}

/**
 * The browser keeps what VS Code remembers (open editors, the run history's place) by address, so the port stays the
 * same from start to start while it is free.
 *
 * @param {string} root
 * @returns {Promise<number>}
 */
async function samePortAsBefore(root) {
  const file = join(root, '.vscode-web', 'port');
  const before = existsSync(file) ? Number.parseInt(await readFile(file, 'utf8'), 10) : 0;
  const port = await freePort(Number.isInteger(before) && before > 0 && before < 65_536 ? before : 0);
  await writeFile(file, String(port));
  return port;
}

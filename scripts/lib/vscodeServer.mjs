import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, openSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { get } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atEnd } from './ending.mjs';
import { endGroup } from './processes.mjs';
import { SetupError } from './setupError.mjs';

/** A loaded machine with two cores may take its time. */
const START_LIMIT_MS = 60_000;

/**
 * @typedef {object} ServerOptions
 * @property {import('./vscodeWeb.mjs').VSCodeWeb} program
 * @property {string} userDataDir kept by the caller; its settings are the caller's too
 * @property {string} extensionsDir must be fresh: VS Code looks for new extensions only in a folder that it has not used
 * @property {number} [port] a free one by default
 * @property {boolean} [asksForTrust] whether a new folder is untrusted until a person trusts it; by default all are trusted
 * @property {readonly string[]} [args] further arguments of the server
 * @property {NodeJS.ProcessEnv} [env] further variables, for the extension host too
 */

/**
 * @typedef {object} VSCodeServer
 * @property {string} authority host and port, as VS Code names a remote machine
 * @property {string} token what a browser must show once; a secret
 * @property {string} logFile what the server prints
 * @property {Promise<string>} ended settles with a sentence when the server ends, for whatever reason
 * @property {() => Promise<void>} stop ends the server and all that it started
 */

/**
 * Starts the browser-served VS Code on loopback, behind a token, and waits until it answers.
 *
 * @param {ServerOptions} options
 * @returns {Promise<VSCodeServer>}
 */
export async function startVSCodeServer({
  program,
  userDataDir,
  extensionsDir,
  port,
  asksForTrust = false,
  args = [],
  env = {},
}) {
  const ownPort = port ?? (await freePort());
  const folder = await mkdtemp(join(tmpdir(), 'shardboard-vscode-'));
  const token = randomBytes(24).toString('hex');
  const tokenFile = join(folder, 'token');
  // In a file that only this user can read: a command line can be read by everybody on the machine.
  await writeFile(tokenFile, token, { mode: 0o600 });
  await mkdir(extensionsDir, { recursive: true });
  const logFile = join(folder, 'server.log');
  const log = openSync(logFile, 'w', 0o600);
  // A process group of its own: the server starts extension hosts, terminals and file watchers, and ending the server
  // alone leaves some of them.
  const child = spawn(
    program.node,
    [
      program.server,
      ...['--host', '127.0.0.1', '--port', String(ownPort), '--connection-token-file', tokenFile],
      ...['--user-data-dir', userDataDir, '--extensions-dir', extensionsDir],
      ...['--accept-server-license-terms', '--disable-telemetry', '--disable-experiments'],
      ...(asksForTrust ? [] : ['--disable-workspace-trust']),
      ...args,
    ],
    { env: { ...environmentForVSCode(process.env), ...env }, stdio: ['ignore', log, log], detached: true },
  );
  closeSync(log);
  /** @type {string | undefined} */
  let ending;
  /** @type {Promise<string>} */
  const ended = new Promise((resolve) => {
    child.on('error', (error) => resolve(`VS Code could not be started: ${error.message}`));
    child.on('exit', (code, signal) => resolve(`VS Code's server ended (${code ?? signal})`));
  });
  void ended.then((reason) => {
    ending = reason;
  });
  const end = async () => {
    await endGroup(child.pid);
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  const forget = atEnd(end);
  const stop = async () => {
    await end();
    forget();
  };

  const started = Date.now();
  while (!(await answers(ownPort))) {
    if (ending !== undefined || Date.now() - started > START_LIMIT_MS) {
      const printed = await readFile(logFile, 'utf8');
      await stop();
      throw new SetupError(
        `${printed}\n${ending ?? `VS Code's server did not answer within ${START_LIMIT_MS / 1000} s`}.`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return { authority: `127.0.0.1:${ownPort}`, token, logFile, ended, stop };
}

/**
 * The address that opens a window.
 *
 * @param {VSCodeServer} server
 * @param {Record<string, string>} query what to open, for example `{ folder: '/path' }`
 * @returns {string} holds the token
 */
export function windowAddress(server, query) {
  return `http://${server.authority}/?${new URLSearchParams({ tkn: server.token, ...query })}`;
}

/**
 * The environment without what another VS Code or npm put there: it would steer the server, and reach the terminals and
 * programs that the window starts.
 *
 * @param {NodeJS.ProcessEnv} env
 * @returns {NodeJS.ProcessEnv}
 */
export function environmentForVSCode(env) {
  const isForeign = (/** @type {string} */ name) => /^(VSCODE_|ELECTRON_|npm_|NODE_OPTIONS$|INIT_CWD$)/.test(name);
  return Object.fromEntries(Object.entries(env).filter(([name]) => !isForeign(name)));
}

/**
 * A free port of the kernel's choice, or `wanted` when that is free.
 *
 * @param {number} [wanted]
 * @returns {Promise<number>}
 */
export function freePort(wanted = 0) {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', (error) => (wanted === 0 ? reject(error) : resolve(freePort())));
    probe.listen(wanted, '127.0.0.1', () => {
      const address = probe.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      probe.close(() => resolve(port));
    });
  });
}

/**
 * @param {number} port
 * @returns {Promise<boolean>}
 */
function answers(port) {
  return new Promise((resolve) => {
    const request = get({ host: '127.0.0.1', port, path: '/version', timeout: 1000 }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(false));
  });
}

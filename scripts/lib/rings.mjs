import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { runOrExplain } from './processes.mjs';
import { environmentPython } from './pythonEnvironment.mjs';
import { withRing } from './ringProcess.mjs';
import { parseCounts, parseJUnit, ringCounts, sumOf } from './testCounts.mjs';

/**
 * @typedef {'python' | 'vscode' | 'build' | 'package'} Need what must be there before a ring runs
 * @typedef {import('./testCounts.mjs').Counts} Counts
 *
 * @typedef {object} RingContext
 * @property {string} root the project's folder
 * @property {string} folder a temporary folder of the ring's own
 * @property {readonly string[]} files the test files to run, all of the ring's when empty
 * @property {(command: string, args: readonly string[], cwd?: string, env?: NodeJS.ProcessEnv) => Promise<boolean>} run
 *
 * @typedef {object} Ring
 * @property {readonly Need[]} needs
 * @property {number} limitMinutes
 * @property {(context: RingContext) => Promise<Counts>} run
 */

/**
 * The rings of the tests, from the quickest to the most real. `npm test` runs them in this order.
 *
 * @type {ReadonlyMap<string, Ring>}
 */
export const rings = new Map(
  /** @type {[string, Ring][]} */ ([
    ['lint', { needs: [], limitMinutes: 5, run: (context) => check(context, [local(context, 'biome'), 'check']) }],
    [
      'typecheck',
      { needs: [], limitMinutes: 5, run: (context) => check(context, [local(context, 'tsc'), '--project', '.']) },
    ],
    ['unit', { needs: [], limitMinutes: 5, run: (context) => nodeTests(context, 'unit') }],
    ['contract', { needs: [], limitMinutes: 5, run: (context) => nodeTests(context, 'contract') }],
    ['gym', { needs: ['python'], limitMinutes: 5, run: (context) => nodeTests(context, 'gym') }],
    ['driver', { needs: ['python'], limitMinutes: 15, run: driverTests }],
    ['host', { needs: ['python', 'vscode', 'build'], limitMinutes: 15, run: hostTests }],
    ['ui', { needs: ['python', 'vscode', 'package'], limitMinutes: 20, run: (context) => nodeTests(context, 'ui') }],
    ['ray', { needs: ['python'], limitMinutes: 20, run: (context) => nodeTests(context, 'ray') }],
  ]),
);

/** The windows of the host ring, and the folder of each one's tests. */
const hostWindows = /** @type {const} */ ([
  ['samples', '.'],
  ['twoFolders', 'twoFolders'],
]);

/**
 * Runs one ring.
 *
 * @param {Ring} ring
 * @param {string} root the project's folder
 * @param {readonly string[]} files the test files to run, all of the ring's when empty
 * @returns {Promise<Counts>}
 */
export async function runRing(ring, root, files) {
  const { result, leftovers } = await withRing(ring.limitMinutes * 60_000, ({ folder, run }) =>
    ring.run({
      root,
      folder,
      files,
      run: (command, args, cwd = root, env = {}) => run(command, args, cwd, { ...environmentVariables(root), ...env }),
    }),
  );
  for (const leftover of leftovers) {
    console.error(`Left running, and ended: ${leftover}`);
  }
  return ringCounts(result, leftovers.length === 0);
}

/**
 * What the tests and the bench are told: the Python to use.
 *
 * @param {string} root the project's folder
 * @returns {NodeJS.ProcessEnv}
 */
export function environmentVariables(root) {
  return { SHARDBOARD_TEST_PYTHON: environmentPython(root) };
}

/**
 * A tool that checks everything at once counts as one test.
 *
 * @param {RingContext} context
 * @param {readonly string[]} commandLine
 * @param {string} [cwd]
 * @returns {Promise<Counts>}
 */
async function check({ run }, [command = '', ...args], cwd) {
  const passed = await run(command, args, cwd);
  return { passed: passed ? 1 : 0, failed: passed ? 0 : 1, skipped: 0 };
}

/**
 * @param {RingContext} context
 * @param {string} name of an npm package's program
 */
function local({ root }, name) {
  return join(root, 'node_modules', '.bin', name);
}

/**
 * @param {RingContext} context
 * @param {string} ring
 */
function bundle({ root }, ring) {
  return runOrExplain(`Bundling the ${ring} tests`, process.execPath, ['scripts/bundleTests.mjs', ring], { cwd: root });
}

/**
 * @param {RingContext} context
 * @param {string} ring
 * @returns {Promise<Counts>}
 */
async function nodeTests(context, ring) {
  await bundle(context, ring);
  const files = await bundledTests(context, ring);
  const report = join(context.folder, 'counts.json');
  const endedWell =
    files.length > 0 &&
    (await context.run(process.execPath, [
      '--test',
      '--enable-source-maps',
      // Two windows or two Ray clusters at once would starve each other on a small machine.
      ...(ring === 'ui' || ring === 'ray' ? ['--test-concurrency=1'] : []),
      ...['--test-reporter=spec', '--test-reporter-destination=stdout'],
      `--test-reporter=${pathToFileURL(join(context.root, 'scripts', 'lib', 'countReporter.mjs'))}`,
      `--test-reporter-destination=${report}`,
      ...files,
    ]));
  return ringCounts(await readReport(report, parseCounts), endedWell);
}

/**
 * @param {RingContext} context
 * @returns {Promise<Counts>}
 */
async function driverTests(context) {
  const driver = join(context.root, 'driver');
  const python = environmentPython(context.root);
  const report = join(context.folder, 'pytest.xml');
  const endedWell = await context.run(python, ['-m', 'pytest', `--junitxml=${report}`], driver);
  const tests = ringCounts(await readReport(report, parseJUnit), endedWell);
  return sumOf([
    tests,
    await check(context, [python, '-m', 'mypy'], driver),
    await check(context, [python, '-m', 'ruff', 'check'], driver),
    await check(context, [python, '-m', 'ruff', 'format', '--check'], driver),
  ]);
}

/**
 * @param {RingContext} context
 * @returns {Promise<Counts>}
 */
async function hostTests(context) {
  await bundle(context, 'host');
  const starter = join('out', 'test', 'host', 'runTests.cjs');
  /** @type {Counts[]} */
  const counts = [];
  for (const [window, folder] of hostWindows) {
    const files = (await bundledTests(context, join('host', folder))).map((path) => join(context.root, path));
    if (files.length > 0) {
      const report = join(context.folder, `${window}.json`);
      const endedWell = await context.run(
        process.execPath,
        ['--enable-source-maps', starter, window, ...files],
        undefined,
        { SHARDBOARD_TEST_REPORT: report },
      );
      counts.push(ringCounts(await readReport(report, parseCounts), endedWell));
    }
  }
  return ringCounts(sumOf(counts), true);
}

/**
 * The bundled tests of a folder, or those of them that were asked for.
 *
 * @param {RingContext} context
 * @param {string} tests a folder of the tests
 */
async function bundledTests({ root, files }, tests) {
  const folder = join('out', 'test', tests);
  const wanted = files.map((file) => file.replace(/^.*\//, '').replace(/\.ts$/, '.cjs'));
  return (await readdir(join(root, folder)))
    .filter((name) => name.endsWith('.test.cjs') && (wanted.length === 0 || wanted.includes(name)))
    .map((name) => join(folder, name));
}

/**
 * @param {string} path
 * @param {(text: string) => Counts} parse
 * @returns {Promise<Counts | undefined>} none when the runner was ended before it wrote one
 */
async function readReport(path, parse) {
  const text = existsSync(path) ? await readFile(path, 'utf8') : '';
  return text === '' ? undefined : parse(text);
}

/**
 * Bundles the tests of the given rings into out/test, each `*.test.ts` by itself, and the programs of a ring that run on
 * their own.
 *
 *   node scripts/bundleTests.mjs unit contract
 */
import { chmod, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as esbuild from 'esbuild';
import { nodeBundle } from './lib/bundles.mjs';
import { projectRoot } from './lib/projectRoot.mjs';

/** Besides its tests. For the host ring: the starter, and the two halves of the stand-in for desktop VS Code. */
const programs = new Map([
  ['contract', ['src/gym/serverKeeper.ts']],
  [
    'bench',
    [
      'test/bench/askingBench.ts',
      'test/bench/bench.ts',
      'test/bench/clusterBench.ts',
      'test/bench/followingBench.ts',
      'test/bench/streamingDashboard.ts',
      'test/bench/gymBench.ts',
      'test/bench/modelProgram.ts',
      'test/bench/watchingBench.ts',
      'src/cluster/clusterWatcher.ts',
      'src/gym/readerWorker.ts',
    ],
  ],
  ['ray', ['src/cluster/clusterWatcher.ts', 'test/support/followerProgram.ts', 'test/support/windowProgram.ts']],
  [
    'host',
    [
      'test/host/runTests.ts',
      'test/host/index.ts',
      'test/support/vscode/shim.ts',
      'test/support/vscode/extensionHostRunner.ts',
    ],
  ],
]);

for (const ring of process.argv.slice(2)) {
  const folder = join('test', ring);
  const tests = (await readdir(join(projectRoot, folder), { recursive: true })).filter((name) =>
    name.endsWith('.test.ts'),
  );
  // Only this ring's: two rings may be run side by side.
  await rm(join(projectRoot, 'out', folder), { recursive: true, force: true });
  await esbuild.build({
    ...nodeBundle,
    absWorkingDir: projectRoot,
    entryPoints: [...tests.map((name) => join(folder, name)), ...(programs.get(ring) ?? [])],
    outbase: '.',
    outdir: 'out',
    outExtension: { '.js': '.cjs' },
    sourcemap: 'inline',
    logLevel: 'warning',
    // Mocha and Playwright load files of their own by path, and test-electron is small enough not to matter.
    external: [...nodeBundle.external, 'mocha', 'playwright-core', '@vscode/test-electron'],
  });
}
if (process.argv.includes('host')) {
  // test-electron starts it like the desktop VS Code.
  await chmod(join(projectRoot, 'out', 'test', 'support', 'vscode', 'shim.cjs'), 0o755);
}

/**
 * `npm run bench`: makes what the benches need and runs them.
 *
 *   npm run bench -- [gym] [cluster] [runs] [asking] [following] [watching]
 */
import { join } from 'node:path';
import { main } from './lib/ending.mjs';
import { findChromium } from './lib/findChromium.mjs';
import { ensureGymWheel } from './lib/gymWheel.mjs';
import { ensureNpmPackages } from './lib/npmPackages.mjs';
import { runOrExplain } from './lib/processes.mjs';
import { projectRoot } from './lib/projectRoot.mjs';
import { ensurePythonEnvironment } from './lib/pythonEnvironment.mjs';
import { withRing } from './lib/ringProcess.mjs';
import { environmentVariables } from './lib/rings.mjs';
import { SetupError } from './lib/setupError.mjs';
import { step } from './lib/steps.mjs';
import { ensureVSCodeWeb } from './lib/vscodeWeb.mjs';

const LIMIT_MS = 60 * 60_000;
/** What reading servers, starting and stopping a cluster, a run, its asking, following it, and watching a cluster cost. */
const programs = new Map([
  ['gym', 'gymBench.cjs'],
  ['cluster', 'clusterBench.cjs'],
  ['runs', 'bench.cjs'],
  ['asking', 'askingBench.cjs'],
  ['following', 'followingBench.cjs'],
  ['watching', 'watchingBench.cjs'],
]);

await main(async () => {
  const unknown = process.argv.slice(2).filter((name) => !programs.has(name));
  if (unknown.length > 0) {
    throw new SetupError(
      `There is no bench ${unknown.join(', ')}. The benches are ${[...programs.keys()].join(', ')}.`,
    );
  }
  const chosen = [...programs].filter(([name]) => process.argv.length <= 2 || process.argv.includes(name));
  await step('npm packages', () => ensureNpmPackages(projectRoot));
  await ensurePythonEnvironment(projectRoot, { forDevelopment: false });
  let gym = '';
  await step('NeMo Gym', async () => {
    gym = await ensureGymWheel(projectRoot);
    return 'there';
  });
  if (chosen.some(([name]) => name === 'watching')) {
    findChromium(process.env);
    await step('VS Code for the browser', () => ensureVSCodeWeb(projectRoot));
    await runOrExplain('Packing the extension', process.execPath, ['scripts/package.mjs'], { cwd: projectRoot });
  }
  await runOrExplain('Bundling the bench', process.execPath, ['scripts/bundleTests.mjs', 'bench'], {
    cwd: projectRoot,
  });
  const env = { ...environmentVariables(projectRoot), SHARDBOARD_BENCH_GYM: gym };
  const { result: succeeded, leftovers } = await withRing(LIMIT_MS, async ({ run }) => {
    let allSucceeded = true;
    for (const [, program] of chosen) {
      const bench = join('out', 'test', 'bench', program);
      allSucceeded = (await run(process.execPath, ['--enable-source-maps', bench], projectRoot, env)) && allSucceeded;
    }
    return allSucceeded;
  });
  for (const leftover of leftovers) {
    console.error(`Left running, and ended: ${leftover}`);
  }
  return succeeded && leftovers.length === 0 ? 0 : 1;
});

/** `npm run bench`: makes what the bench needs and runs it. */
import { join } from 'node:path';
import { main } from './lib/ending.mjs';
import { ensureNpmPackages } from './lib/npmPackages.mjs';
import { runOrExplain } from './lib/processes.mjs';
import { projectRoot } from './lib/projectRoot.mjs';
import { ensurePythonEnvironment } from './lib/pythonEnvironment.mjs';
import { withRing } from './lib/ringProcess.mjs';
import { environmentVariables } from './lib/rings.mjs';
import { step } from './lib/steps.mjs';

const LIMIT_MS = 60 * 60_000;

await main(async () => {
  await step('npm packages', () => ensureNpmPackages(projectRoot));
  await ensurePythonEnvironment(projectRoot, { forDevelopment: false });
  await runOrExplain('Bundling the bench', process.execPath, ['scripts/bundleTests.mjs', 'bench'], {
    cwd: projectRoot,
  });
  const bench = join('out', 'test', 'bench', 'bench.cjs');
  const { result: succeeded, leftovers } = await withRing(LIMIT_MS, ({ run }) =>
    run(process.execPath, ['--enable-source-maps', bench], projectRoot, environmentVariables(projectRoot)),
  );
  for (const leftover of leftovers) {
    console.error(`Left running, and ended: ${leftover}`);
  }
  return succeeded && leftovers.length === 0 ? 0 : 1;
});

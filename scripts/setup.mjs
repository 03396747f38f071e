/** `npm run setup`: all that a developer's editor and tests need, without opening anything. */
import { main } from './lib/ending.mjs';
import { ensureNpmPackages } from './lib/npmPackages.mjs';
import { projectRoot } from './lib/projectRoot.mjs';
import { ensurePythonEnvironment } from './lib/pythonEnvironment.mjs';
import { step } from './lib/steps.mjs';

await main(async () => {
  await step('npm packages', () => ensureNpmPackages(projectRoot));
  await ensurePythonEnvironment(projectRoot, { forDevelopment: true });
  return 0;
});

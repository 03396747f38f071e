/**
 * `npm test`: makes what the tests need, runs their rings and ends with how many passed and failed.
 *
 *   node scripts/test.mjs [ring …] [file.test.ts …]
 *
 * Needs nothing but Node: it runs before the npm packages are there.
 */
import { main } from './lib/ending.mjs';
import { findChromium } from './lib/findChromium.mjs';
import { ensureNpmPackages } from './lib/npmPackages.mjs';
import { runOrExplain } from './lib/processes.mjs';
import { projectRoot } from './lib/projectRoot.mjs';
import { ensurePythonEnvironment } from './lib/pythonEnvironment.mjs';
import { rings, runRing } from './lib/rings.mjs';
import { printable, SetupError } from './lib/setupError.mjs';
import { secondsSince, step } from './lib/steps.mjs';
import { closingLine, sumOf } from './lib/testCounts.mjs';
import { ensureVSCodeWeb } from './lib/vscodeWeb.mjs';

await main(async () => {
  const names = process.argv.slice(2).filter((argument) => !argument.endsWith('.test.ts'));
  const files = process.argv.slice(2).filter((argument) => argument.endsWith('.test.ts'));
  const unknown = names.filter((name) => !rings.has(name));
  if (unknown.length > 0) {
    throw new SetupError(`There is no ring ${unknown.join(', ')}. The rings are ${[...rings.keys()].join(', ')}.`);
  }
  const chosen = [...rings].filter(([name]) => names.length === 0 || names.includes(name));
  const needs = new Set(chosen.flatMap(([, ring]) => ring.needs));

  await step('npm packages', () => ensureNpmPackages(projectRoot));
  if (needs.has('python')) {
    await ensurePythonEnvironment(projectRoot, { forDevelopment: true });
  }
  if (needs.has('vscode')) {
    findChromium(process.env);
    await step('VS Code for the browser', () => ensureVSCodeWeb(projectRoot));
  }
  if (needs.has('build')) {
    await step('Extension', () => runScript('Building the extension', 'esbuild.mjs', 'built'));
  }
  if (needs.has('package')) {
    await step('Package', () => runScript('Packing the extension', 'scripts/package.mjs', 'packed'));
  }

  const results = [];
  for (const [name, ring] of chosen) {
    console.log(`\n── ${name}`);
    const started = performance.now();
    const counts = await runRing(ring, projectRoot, files).catch((error) => {
      // A ring that cannot start must not keep the others from saying what they found.
      console.error(printable(error));
      return { passed: 0, failed: 1, skipped: 0 };
    });
    results.push({ name, counts, time: secondsSince(started) });
  }

  console.log('');
  for (const { name, counts, time } of results) {
    console.log(`${name.padEnd(10)} ${closingLine(counts)} in ${time}`);
  }
  const total = sumOf(results.map(({ counts }) => counts));
  console.log(`\n${closingLine(total)}`);
  return total.failed === 0 ? 0 : 1;
});

/**
 * @param {string} what
 * @param {string} script
 * @param {string} outcome
 */
async function runScript(what, script, outcome) {
  await runOrExplain(what, process.execPath, [script], { cwd: projectRoot });
  return outcome;
}

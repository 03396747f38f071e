/**
 * `npm start`: everything from a fresh clone to a VS Code that shows the samples with the extension loaded. Each step is
 * skipped when its work is done already. `npm start -- --no-open` ends before VS Code.
 *
 * Needs nothing but Node: it runs before the npm packages are there.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findDesktopVSCode } from './lib/desktopVSCode.mjs';
import { main } from './lib/ending.mjs';
import { ensureNpmPackages } from './lib/npmPackages.mjs';
import { openInBrowser } from './lib/openInBrowser.mjs';
import { runOrExplain } from './lib/processes.mjs';
import { projectRoot } from './lib/projectRoot.mjs';
import { ensurePythonEnvironment } from './lib/pythonEnvironment.mjs';
import { SetupError } from './lib/setupError.mjs';
import { step } from './lib/steps.mjs';

await main(async () => {
  const unknown = process.argv.slice(2).filter((argument) => argument !== '--no-open');
  if (unknown.length > 0) {
    throw new SetupError(`Unknown option ${unknown.join(' ')}. There is one: npm start -- --no-open`);
  }
  await step('npm packages', () => ensureNpmPackages(projectRoot));
  await ensurePythonEnvironment(projectRoot, { forDevelopment: false });
  await step('Extension', async () => {
    await runOrExplain('Building the extension', process.execPath, ['esbuild.mjs'], { cwd: projectRoot });
    return 'built';
  });
  return process.argv.includes('--no-open') ? 0 : await open();
});

/** @returns {Promise<number>} the exit code */
async function open() {
  const manifest = JSON.parse(await readFile(join(projectRoot, 'package.json'), 'utf8'));
  const minimumVersion = String(manifest.engines.vscode).replace('^', '');
  const machine = { env: process.env, platform: process.platform, userId: process.getuid?.() };
  const desktop = await findDesktopVSCode(machine, minimumVersion);
  if ('reason' in desktop) {
    console.log(`VS Code opens in the browser, since ${desktop.reason}.`);
    return await openInBrowser(projectRoot);
  }
  await step('VS Code', async () => {
    await runOrExplain('Opening VS Code', desktop.code, [
      '--new-window',
      `--extensionDevelopmentPath=${projectRoot}`,
      join(projectRoot, 'samples'),
    ]);
    return 'opened on the samples';
  });
  return 0;
}

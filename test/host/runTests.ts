/**
 * Starts one window of the host ring, and runs bundled tests in its extension host.
 *
 *   node runTests.cjs samples|twoFolders FILE.test.cjs…
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runTests } from '@vscode/test-electron';
import { projectRoot } from '../support/projectRoot';
import { copySamples } from '../support/samplesCopy';
import { makeTwoFolders } from '../support/twoFolders';

async function run(window: string, files: readonly string[]): Promise<void> {
  const opened = window === 'twoFolders' ? await makeTwoFolders() : await copySamples();
  const profile = await mkdtemp(join(tmpdir(), 'host-'));
  try {
    await runTests({
      // The browser-served VS Code by default; otherwise test-electron downloads the desktop one.
      ...(process.env.SHARDBOARD_TEST_DESKTOP === '1'
        ? {}
        : { vscodeExecutablePath: join(projectRoot, 'out', 'test', 'support', 'vscode', 'shim.cjs') }),
      // The second one stands in for another extension.
      extensionDevelopmentPath:
        window === 'twoFolders'
          ? [projectRoot, join(projectRoot, 'test', 'support', 'fakePythonExtension')]
          : projectRoot,
      extensionTestsPath: join(projectRoot, 'out', 'test', 'host', 'index.cjs'),
      extensionTestsEnv: { SHARDBOARD_TEST_FILES: JSON.stringify(files) },
      launchArgs: [
        'workspace' in opened ? opened.workspace : opened.folder,
        '--disable-extensions',
        `--user-data-dir=${join(profile, 'user-data')}`,
        `--extensions-dir=${join(profile, 'extensions')}`,
      ],
    });
  } finally {
    await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    await opened.remove();
  }
}

const [window = '', ...files] = process.argv.slice(2);
run(window, files).catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});

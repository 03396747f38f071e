/** Starts the host ring: the bundled tests of this folder, in a real extension host, on a copy of the samples. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runTests } from '@vscode/test-electron';
import { projectRoot } from '../support/projectRoot';
import { copySamples } from '../support/samplesCopy';

async function run(): Promise<void> {
  const samples = await copySamples();
  const profile = await mkdtemp(join(tmpdir(), 'host-'));
  try {
    await runTests({
      // The browser-served VS Code by default; otherwise test-electron downloads the desktop one.
      ...(process.env.SHARDBOARD_TEST_DESKTOP === '1'
        ? {}
        : { vscodeExecutablePath: join(projectRoot, 'out', 'test', 'support', 'vscode', 'shim.cjs') }),
      extensionDevelopmentPath: projectRoot,
      extensionTestsPath: join(projectRoot, 'out', 'test', 'host', 'index.cjs'),
      launchArgs: [
        samples.folder,
        '--disable-extensions',
        `--user-data-dir=${join(profile, 'user-data')}`,
        `--extensions-dir=${join(profile, 'extensions')}`,
      ],
    });
  } finally {
    await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    await samples.remove();
  }
}

run().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});

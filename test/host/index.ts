/** Runs inside the extension host: all tests of this folder, with the counts as a report beside what they print. */
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export async function run(): Promise<void> {
  // Mocha is an ES module; the extension host loads this file as CommonJS.
  const { default: Mocha } = await import('mocha');
  const mocha = new Mocha({ ui: 'tdd', timeout: 60_000, color: false, reporter: 'spec' });
  for (const name of readdirSync(__dirname)) {
    if (name.endsWith('.test.cjs')) {
      mocha.addFile(join(__dirname, name));
    }
  }
  await mocha.loadFilesAsync();
  const { stats } = await new Promise<Mocha.Runner>((resolve) => {
    const runner = mocha.run(() => resolve(runner));
  });
  if (stats === undefined) {
    throw new Error('Mocha counted nothing.');
  }
  const report = process.env.SHARDBOARD_TEST_REPORT;
  if (report !== undefined) {
    writeFileSync(report, JSON.stringify({ passed: stats.passes, failed: stats.failures, skipped: stats.pending }));
  }
  if (stats.failures > 0) {
    throw new Error(`${stats.failures} tests failed.`);
  }
}

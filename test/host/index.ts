/** Runs inside the extension host: the test files that it is told, with the counts as a report beside what they print. */
import { writeFileSync } from 'node:fs';

export async function run(): Promise<void> {
  // Mocha is an ES module; the extension host loads this file as CommonJS.
  const { default: Mocha } = await import('mocha');
  const mocha = new Mocha({ ui: 'tdd', timeout: 60_000, color: false, reporter: 'spec' });
  const files: string[] = JSON.parse(process.env.SHARDBOARD_TEST_FILES ?? '[]');
  for (const file of files) {
    mocha.addFile(file);
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

/** `npm run --silent analyze -- [--root DIR] PATH...`: bundles src/cli/analyze.ts and runs it. Prints nothing of its own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { atEnd, main } from './lib/ending.mjs';
import { ensureNpmPackages } from './lib/npmPackages.mjs';
import { projectRoot } from './lib/projectRoot.mjs';

await main(async () => {
  await ensureNpmPackages(projectRoot);
  // Only now are the packages there that these two need.
  const [{ build }, { nodeBundle }] = await Promise.all([import('esbuild'), import('./lib/bundles.mjs')]);
  // A folder of its own: two of these may run at once.
  const folder = await mkdtemp(join(tmpdir(), 'shardboard-analyze-'));
  atEnd(() => rm(folder, { recursive: true, force: true }));
  const program = join(folder, 'analyze.cjs');
  await build({
    ...nodeBundle,
    absWorkingDir: projectRoot,
    entryPoints: ['src/cli/analyze.ts'],
    outfile: program,
    sourcemap: 'inline',
    logLevel: 'error',
  });
  const { resolve } = createRequire(import.meta.url);
  for (const file of ['web-tree-sitter/web-tree-sitter.wasm', 'tree-sitter-python/tree-sitter-python.wasm']) {
    await copyFile(resolve(file), join(folder, basename(file)));
  }
  // Node names a bug in it by the lines of the source, not of the bundle.
  const child = spawn(process.execPath, ['--enable-source-maps', program, ...process.argv.slice(2)], {
    stdio: 'inherit',
  });
  const [code] = await once(child, 'close');
  return code ?? 1;
});

/** `npm run package`: builds for production and packs `shardboard.vsix`. */

import { cp, mkdtemp, rm, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atEnd, main } from './lib/ending.mjs';
import { runOrExplain } from './lib/processes.mjs';
import { projectRoot } from './lib/projectRoot.mjs';
import { SetupError } from './lib/setupError.mjs';

/** A first look must not wait for a download; what is larger than this holds something that it should not. */
const SIZE_LIMIT = 1_500_000;

/** All that may ship, of which `.vscodeignore` chooses. */
const SOURCES = [
  '.vscodeignore',
  'CHANGELOG.md',
  'LICENSE',
  'README.md',
  'dist',
  'docs',
  'driver',
  'media',
  'package.json',
  'samples',
];

await main(async () => {
  await runOrExplain('Building the extension', process.execPath, ['esbuild.mjs', '--production'], { cwd: projectRoot });
  // vsce matches every file below its folder against every pattern; with the two installed environments among them, that
  // takes twenty seconds.
  const folder = await mkdtemp(join(tmpdir(), 'shardboard-package-'));
  atEnd(() => rm(folder, { recursive: true, force: true }));
  await Promise.all(SOURCES.map((name) => cp(join(projectRoot, name), join(folder, name), { recursive: true })));
  const vsce = createRequire(import.meta.url).resolve('@vscode/vsce/vsce');
  const file = join(projectRoot, 'shardboard.vsix');
  const listing = await runOrExplain(
    'Packing the extension',
    process.execPath,
    // The dependencies are inside the bundles already. The README's links are kept as they are written.
    [vsce, 'package', '--no-dependencies', '--no-rewrite-relative-links', '--allow-missing-repository', '--out', file],
    { cwd: folder },
  );
  console.log(listing.trim());
  const { size } = await stat(file);
  if (size > SIZE_LIMIT) {
    throw new SetupError(
      `shardboard.vsix has ${size} bytes; ${SIZE_LIMIT} are allowed. The list above shows what is in it.`,
    );
  }
  return 0;
});

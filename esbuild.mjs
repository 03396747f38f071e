/**
 * Builds the extension into dist/: the two bundles and the files that they load.
 *
 *   node esbuild.mjs [--watch] [--production]
 */
import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, join, relative } from 'node:path';
import * as esbuild from 'esbuild';
import { nodeBundle } from './scripts/lib/bundles.mjs';
import { projectRoot } from './scripts/lib/projectRoot.mjs';
import { thirdPartyLicences } from './scripts/lib/thirdPartyLicences.mjs';

const dist = join(projectRoot, 'dist');
const isProduction = process.argv.includes('--production');

/** @satisfies {esbuild.BuildOptions} */
const common = {
  absWorkingDir: projectRoot,
  minify: isProduction,
  sourcemap: isProduction ? false : 'linked',
  metafile: true,
  logLevel: 'info',
};

/** @satisfies {esbuild.BuildOptions[]} */
const bundles = [
  {
    ...nodeBundle,
    ...common,
    entryPoints: [
      { in: 'src/extension.ts', out: 'extension' },
      { in: 'src/gym/readerWorker.ts', out: 'readerWorker' },
      { in: 'src/gym/serverKeeper.ts', out: 'serverKeeper' },
      { in: 'src/cluster/clusterWatcher.ts', out: 'clusterWatcher' },
    ],
    outdir: 'dist',
  },
  {
    ...common,
    entryPoints: [
      { in: 'src/results-page/main.ts', out: 'results-page' },
      { in: 'src/results-page/style.css', out: 'results-page' },
    ],
    outdir: 'dist',
    bundle: true,
    platform: 'browser',
    format: 'iife',
    target: 'es2022',
  },
];

const require = createRequire(import.meta.url);
/** Loaded while the extension runs, each from beside the bundles. */
const loadedFiles = [
  'web-tree-sitter/web-tree-sitter.wasm',
  'tree-sitter-python/tree-sitter-python.wasm',
  '@vscode/codicons/dist/codicon.css',
  '@vscode/codicons/dist/codicon.ttf',
].map((name) => require.resolve(name));

await rm(dist, { recursive: true, force: true });
await mkdir(dist);
await Promise.all(loadedFiles.map((file) => copyFile(file, join(dist, basename(file)))));
if (process.argv.includes('--watch')) {
  const contexts = await Promise.all(bundles.map((options) => esbuild.context(options)));
  await Promise.all(contexts.map((context) => context.watch()));
} else {
  // esbuild has printed what is wrong by then; its stack would only hide it.
  const results = await Promise.all(bundles.map((options) => esbuild.build(options))).catch(() => process.exit(1));
  const shipped = [
    ...results.flatMap(({ metafile }) => Object.keys(metafile.inputs)),
    ...loadedFiles.map((file) => relative(projectRoot, file)),
  ];
  await writeFile(join(dist, 'third-party-licences.txt'), await thirdPartyLicences(projectRoot, shipped));
}

import { createRequire } from 'node:module';

/**
 * How every bundle that runs in Node is made, the extension's and the tests': CommonJS, as the extension host loads it.
 *
 * @satisfies {import('esbuild').BuildOptions}
 */
export const nodeBundle = {
  bundle: true,
  platform: 'node',
  format: 'cjs',
  target: 'node20',
  external: ['vscode'],
  // Its ESM build asks `import.meta.url`, which is undefined in a CommonJS bundle and throws when it is first used;
  // esbuild says nothing about it. Its CommonJS build works.
  alias: { 'web-tree-sitter': createRequire(import.meta.url).resolve('web-tree-sitter') },
};

import { cp, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { projectRoot } from './projectRoot';

/** A copy of the samples that a test may write into. */
export interface SamplesCopy {
  readonly folder: string;
  remove(): Promise<void>;
}

/** Copies the samples, with the project's Python environment beside them, where their settings look for it. */
export async function copySamples(): Promise<SamplesCopy> {
  const parent = await mkdtemp(join(tmpdir(), 'samples-'));
  const folder = join(parent, 'samples');
  const isOwnOutput = (path: string): boolean => ['shardboard-results', '.shardboard'].includes(basename(path));
  await cp(join(projectRoot, 'samples'), folder, { recursive: true, filter: (path) => !isOwnOutput(path) });
  await symlink(join(projectRoot, '.venv'), join(parent, '.venv'));
  return { folder, remove: () => rm(parent, { recursive: true, force: true, maxRetries: 5 }) };
}

import { join } from 'node:path';
import { projectRoot } from './projectRoot';

/** What ends a cluster that nobody uses, as it is bundled for the tests that start one. */
export const watcherProgram = join(projectRoot, 'out', 'src', 'cluster', 'clusterWatcher.cjs');

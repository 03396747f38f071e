/**
 * What one window does with a cluster, as a process that can be killed: `node windowProgram.cjs STORAGE_FOLDER start|restore
 * [keep]`. Writes each state as a line of JSON, and lives until it is ended.
 */
import { createClusterService } from '../../src/cluster/service';
import { testPython } from './testPython';
import { watcherProgram } from './watcherProgram';

const [storageFolder = '', action, kept] = process.argv.slice(2);
const service = createClusterService({
  storageFolder,
  resolvePython: async () => testPython(),
  watcher: watcherProgram,
  isKept: () => kept === 'keep',
  joined: { load: async () => undefined, save: async () => undefined, forget: async () => undefined },
});
service.onDidChange((state) => console.log(JSON.stringify(state)));
void (action === 'start' ? service.start() : service.restore());
setInterval(() => undefined, 1000);

import type { Node } from 'web-tree-sitter';
import { readServerFile } from './readings';
import { readModule } from './readModule';
import type { ServerFile } from './serverFile';

/** Whether it is worth parsing the text for servers: files that have nothing to do with Gym are never parsed. */
export function mayHoldServers(text: string): boolean {
  return text.includes('nemo_gym') || text.includes('ray_enabled') || text.includes('run_webserver');
}

/** Reads the servers of one file on its own. A file that does not parse is read as far as it can be. */
export function readServers(root: Node, text: string): ServerFile {
  return readServerFile('', readModule(root, text));
}

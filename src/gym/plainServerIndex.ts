import { createEmitter } from '../common/emitter';
import { createThrottle } from '../common/throttle';
import { type PythonParser, withTree } from '../python/parser';
import { readServerFile } from './readings';
import { mayHoldServers, readServers } from './readServers';
import type { ServerFile } from './serverFile';
import type { ServerIndex, SourceFiles } from './serverIndex';

const TELL_EVERY_MS = 250;

/** An index that reads each file by itself and follows no import. */
export function createPlainServerIndex(options: {
  readonly files: SourceFiles;
  readonly parser: PythonParser;
  readonly roots: () => readonly string[];
}): ServerIndex {
  const changed = createEmitter<void>();
  const told = createThrottle(() => changed.fire(), TELL_EVERY_MS);
  const ended = new AbortController();
  const found = new Map<string, ServerFile>();
  let building: Promise<void> | undefined;
  let complete = false;

  const read = async (path: string): Promise<ServerFile | undefined> => {
    const bytes = await options.files.read(path);
    if (bytes === undefined) {
      return undefined;
    }
    const text = new TextDecoder().decode(bytes);
    return withTree(options.parser, text, (root) => readServers(root, text));
  };
  const take = async (path: string): Promise<void> => {
    const bytes = await options.files.read(path);
    const text = bytes && new TextDecoder().decode(bytes);
    const file =
      text !== undefined && mayHoldServers(text)
        ? await withTree(options.parser, text, (root) => readServers(root, text))
        : undefined;
    if (file && (file.classes.length > 0 || file.startCalls.length > 0)) {
      found.set(path, file);
    } else {
      found.delete(path);
    }
    told.request();
  };
  const buildAll = async (): Promise<void> => {
    for (const root of options.roots()) {
      for (const path of await options.files.list(root, ended.signal)) {
        await take(path);
      }
    }
    complete = true;
    told.now();
  };

  return {
    onDidChange: changed.event,
    files: () => found,
    isComplete: () => complete,
    build() {
      building ??= buildAll();
      return building;
    },
    update(paths) {
      told.request();
      for (const path of building ? paths : []) {
        void take(path);
      }
    },
    read: (path) => Promise.resolve(found.get(path) ?? read(path)),
    readDocument: readServerFile,
    closeDocument() {},
    mayHoldServers,
    dispose() {
      ended.abort();
      told.dispose();
      changed.dispose();
    },
  };
}

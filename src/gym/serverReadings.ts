import { type PythonParser, withTree } from '../python/parser';
import { mayHoldServers, readServers } from './readServers';
import type { ServerFile } from './serverFile';

/** What a reading needs of a text that changes; VS Code's TextDocument is one. */
export interface VersionedText {
  readonly version: number;
  getText(): string;
}

/** Readings of open documents, one for each at its latest version. */
export interface ServerReadings {
  /**
   * What the document holds now: at once when this version has been read before, or holds nothing of Gym (then undefined,
   * and nothing is parsed).
   *
   * @throws UserError when the grammar cannot be loaded; the next call tries again
   */
  read(document: VersionedText): ServerFile | undefined | Promise<ServerFile | undefined>;
}

interface Entry {
  readonly version: number;
  reading: ServerFile | undefined | Promise<ServerFile | undefined>;
}

/** Keeps no tree: each is freed as soon as it is read. A reading goes when its document does. */
export function createServerReadings(parser: PythonParser): ServerReadings {
  const entries = new WeakMap<VersionedText, Entry>();
  return {
    read(document) {
      const known = entries.get(document);
      if (known?.version === document.version) {
        return known.reading;
      }
      const text = document.getText();
      const entry: Entry = { version: document.version, reading: undefined };
      entries.set(document, entry);
      if (mayHoldServers(text)) {
        entry.reading = withTree(parser, text, (root) => readServers(root, text)).then(
          (file) => {
            entry.reading = file;
            return file;
          },
          (error: unknown) => {
            if (entries.get(document) === entry) {
              entries.delete(document);
            }
            throw error;
          },
        );
      }
      return entry.reading;
    },
  };
}

import type { Disposable } from '../common/emitter';
import type { PythonParser } from '../python/parser';
import { createKeptTrees } from './keptTrees';
import type { ModuleFacts } from './moduleFacts';
import { readServerFile } from './readings';
import { mayHoldServers } from './readServers';
import type { ServerFile } from './serverFile';
import type { ServerIndex } from './serverIndex';

/** What a reading needs of a text that changes; VS Code's TextDocument is one. */
export interface OpenText {
  readonly version: number;
  readonly uri: { readonly path: string };
  getText(): string;
}

/** Readings of open documents, each at its latest version, with their imports followed as far as an index knows. */
export interface ServerReadings<Text extends OpenText = OpenText> extends Disposable {
  /**
   * What the document holds now: at once, but for the first of all, and while a file that it imports has not been read: no
   * base is missing before it has been looked for. Undefined when it holds nothing of Gym; then nothing is parsed.
   *
   * @throws UserError when the grammar cannot be loaded; the next call tries again
   */
  read(document: Text): ServerFile | undefined | Promise<ServerFile | undefined>;
  /**
   * The same of a document that was read before, nothing of another one. For a text that has changed where nobody looks: a
   * change that was taken back would else count for the index until somebody does.
   */
  readAgain(document: Text): Promise<void>;
  /** The document is closed: its tree is freed, and the file on disk counts again. */
  close(document: Text): void;
}

interface Entry {
  readonly version: number;
  facts: ModuleFacts | undefined | Promise<ModuleFacts>;
}

/** Of a file on its own the facts alone decide. */
const alone = new WeakMap<ModuleFacts, ServerFile>();

function readAlone(path: string, facts: ModuleFacts): ServerFile {
  const file = alone.get(facts) ?? readServerFile(path, facts);
  alone.set(facts, file);
  return file;
}

function unresolvedIn({ classes, startedElsewhere }: ServerFile): string[] {
  return [...classes, ...startedElsewhere].flatMap(({ tree: { origin } }) =>
    origin?.kind === 'unresolved' ? [origin.what] : [],
  );
}

/** @param pathOf the path by which the index knows a document */
export function createServerReadings<Text extends OpenText>(
  parser: PythonParser,
  index?: Pick<ServerIndex, 'mayHoldServers' | 'read' | 'readDocument' | 'closeDocument'>,
  pathOf: (document: Text) => string = ({ uri }) => uri.path,
): ServerReadings<Text> {
  const trees = createKeptTrees(parser);
  const entries = new WeakMap<Text, Entry>();
  const mayHold = index?.mayHoldServers ?? mayHoldServers;

  /** What has been looked for everywhere and is not there, in each document. */
  const notFound = new WeakMap<Text, ReadonlySet<string>>();

  const toFile = (document: Text, facts: ModuleFacts | undefined): ReturnType<ServerReadings['read']> => {
    const path = pathOf(document);
    if (!facts || !index) {
      return facts && readAlone(path, facts);
    }
    const file = index.readDocument(path, facts);
    const isFinal = unresolvedIn(file).every((what) => notFound.get(document)?.has(what));
    return isFinal ? file : readImports(document, index);
  };

  const readImports = async (
    document: Text,
    { read, readDocument }: Pick<ServerIndex, 'read' | 'readDocument'>,
  ): Promise<ServerFile | undefined> => {
    const path = pathOf(document);
    await read(path);
    // It may have been closed meanwhile: then the file on disk counts.
    const facts = entries.has(document) ? await factsOf(document) : undefined;
    const file = facts && readDocument(path, facts);
    if (file) {
      notFound.set(document, new Set(unresolvedIn(file)));
    }
    return file;
  };

  const factsOf = (document: Text): Entry['facts'] => {
    const known = entries.get(document);
    // A text without facts may hold a server as soon as the index knows its base.
    if (known?.version === document.version && known.facts !== undefined) {
      return known.facts;
    }
    const text = document.getText();
    const entry: Entry = { version: document.version, facts: undefined };
    entries.set(document, entry);
    if (!mayHold(text)) {
      trees.forget(document);
      return undefined;
    }
    const facts = trees.read(document, text);
    if (facts instanceof Promise) {
      entry.facts = facts.then(
        (read) => {
          entry.facts = read;
          return read;
        },
        (error: unknown) => {
          entry.facts = undefined;
          throw error;
        },
      );
    } else {
      entry.facts = facts;
    }
    return entry.facts;
  };

  const read = (document: Text): ReturnType<ServerReadings['read']> => {
    const facts = factsOf(document);
    return facts instanceof Promise ? facts.then((found) => toFile(document, found)) : toFile(document, facts);
  };

  return {
    read,
    async readAgain(document) {
      if (entries.has(document)) {
        await read(document);
      }
    },
    close(document) {
      trees.forget(document);
      entries.delete(document);
      index?.closeDocument(pathOf(document));
    },
    dispose: () => trees.dispose(),
  };
}

import { createEmitter, type Event } from '../common/emitter';
import { createThrottle } from '../common/throttle';
import { messageOf } from '../common/userError';
import type { ModuleFacts } from './moduleFacts';
import { isInside } from './moduleSearch';
import { createModuleStore, type Reading } from './moduleStore';
import { findRayUse, type RayReach } from './rayReach';
import type { ReadFacts } from './readFacts';
import type { ServerFile } from './serverFile';
import { type ClassHeader, createServerNames, headersIn, mayNameServers, searchableText } from './serverNames';

/** The files that an index reads. Paths are absolute, with `/` between their parts. */
export interface SourceFiles {
  /** The bytes of a file; undefined when there is none or it cannot be read. */
  read(path: string): Promise<Uint8Array | undefined>;
  /** Every Python file below a folder, without what is never a server (virtual environments, caches). */
  list(folder: string, signal: AbortSignal): Promise<readonly string[]>;
}

/** What the Gym servers of a workspace say, with imports followed from file to file. */
export interface ServerIndex {
  /** Fires, not more often than a person can see, when what {@link files} or {@link readDocument} answers has changed. */
  readonly onDidChange: Event<void>;
  /** Every file of the workspace that holds or starts a server, by its path. It grows while the index is being built. */
  files(): ReadonlyMap<string, ServerFile>;
  /** Whether every file has been looked at. */
  isComplete(): boolean;
  /** Looks at every file of the roots, in the background; a second call joins the first. */
  build(signal?: AbortSignal): Promise<void>;
  /** Takes up files that have been written, made or deleted. */
  update(paths: readonly string[]): void;
  /** One file with its imports followed, whether it is in the index or not; undefined when it cannot be read. */
  read(path: string): Promise<ServerFile | undefined>;
  /**
   * What an open document holds, from the facts of its present text: at once, with the imports that have been read. Where
   * some have not, they are read in the background, and {@link onDidChange} tells when they are there.
   */
  readDocument(path: string, facts: ModuleFacts): ServerFile;
  /** The text of the file on disk counts again. */
  closeDocument(path: string): void;
  /** The nearest place that needs Ray in a file and in what it imports of the workspace; undefined when it is not known. */
  findRayUse(path: string): Promise<RayReach | 'none' | undefined>;
  /** Whether a text may hold a server: it speaks of Gym, or of a class that servers are made from in this workspace. */
  mayHoldServers(text: string): boolean;
  dispose(): void;
}

export interface ServerIndexOptions {
  readonly files: SourceFiles;
  /** Reads a file that has to be parsed. */
  readonly read: ReadFacts;
  /** The folders of the workspace. */
  readonly roots: () => readonly string[];
  /** The folders of the packages that are installed for a file, where its imports are looked for last. */
  readonly installed: (path: string) => readonly string[];
  readonly onError: (message: string) => void;
}

const TELL_EVERY_MS = 250;
const TYPING_EVERY_MS = 1000;
/** Open files at a time: enough to keep a disk busy, few enough for a remote file system. */
const READS_AT_ONCE = 32;
/** Files whose contents are kept until they are parsed. */
const MOST_WAITING = 500;
/** The extension host is left to others after this long. */
const SLICE_MS = 12;

export function createServerIndex({ files, read, roots, installed, onError }: ServerIndexOptions): ServerIndex {
  const store = createModuleStore({ files, read, roots, installed, onError });
  const changed = createEmitter<void>();
  const tell = createThrottle(() => changed.fire(), TELL_EVERY_MS);
  const found = new Map<string, ServerFile>();
  /** The files that each reading depends on. */
  const consultedBy = new Map<string, ReadonlySet<string>>();
  const headers = new Map<string, readonly ClassHeader[]>();
  const names = createServerNames();
  const documents = new Map<string, { facts: ModuleFacts; generation: number; file: ServerFile }>();
  const ended = new AbortController();
  let building: Promise<void> | undefined;
  let complete = false;
  let sliceStart = 0;

  const breathe = async (signal: AbortSignal): Promise<void> => {
    if (performance.now() - sliceStart > SLICE_MS) {
      await new Promise((resume) => setImmediate(resume));
      sliceStart = performance.now();
    }
    signal.throwIfAborted();
  };

  const inWorkspace = (path: string): boolean => roots().some((root) => isInside(path, root));

  const keep = (path: string, { file, consulted }: Reading): void => {
    consultedBy.set(path, consulted);
    if (file.classes.length > 0 || file.startCalls.length > 0) {
      // An open file of elsewhere is read, but is no server of the workspace.
      if (inWorkspace(path)) {
        found.set(path, file);
      }
      names.add(file.classes.map(({ name }) => name));
    } else {
      found.delete(path);
    }
    tell.request();
  };

  const drop = (path: string): void => {
    headers.delete(path);
    consultedBy.delete(path);
    if (found.delete(path)) {
      tell.request();
    }
  };

  const readFile = async (path: string, bytes?: Uint8Array): Promise<void> => {
    const facts = store.documentOf(path) ?? (bytes ? await store.take(path, bytes) : await store.load(path));
    if (facts) {
      keep(path, await store.read(path, facts));
    } else {
      drop(path);
    }
  };

  /** Looks at what a file says without parsing it; answers whether it has to be parsed. */
  const lookAt = (path: string, bytes: Uint8Array): boolean => {
    const text = searchableText(bytes);
    if (mayNameServers(text)) {
      return true;
    }
    headers.set(path, headersIn(text));
    return false;
  };

  const buildAll = async (signal: AbortSignal): Promise<void> => {
    const candidates: string[] = [];
    const parsing: Promise<unknown>[] = [];
    for (const root of roots()) {
      const paths = await files.list(root, signal);
      store.setListing(root, paths);
      for await (const contents of inPieces(paths)) {
        for (const { path, bytes } of contents) {
          if (bytes && lookAt(path, bytes)) {
            candidates.push(path);
            parsing.push(attempt(path, () => store.take(path, bytes)));
          }
          await breathe(signal);
        }
        if (parsing.length > MOST_WAITING) {
          await Promise.all(parsing.splice(0));
        }
      }
    }
    // Each as soon as it and what it imports have been parsed, while the threads go on with others.
    await Promise.all(candidates.map((path) => attempt(path, () => readFile(path))));
    signal.throwIfAborted();
    await readDerived(signal);
    complete = true;
    tell.now();
  };

  /** The contents of files, the next ones being read while some are looked at. */
  async function* inPieces(paths: readonly string[]) {
    const piece = (start: number) =>
      Promise.all(
        paths.slice(start, start + READS_AT_ONCE).map(async (path) => ({ path, bytes: await files.read(path) })),
      );
    let next = piece(0);
    for (let start = 0; start < paths.length; start += READS_AT_ONCE) {
      const current = next;
      next = piece(start + READS_AT_ONCE);
      yield await current;
    }
  }

  const attempt = async (path: string, work: () => Promise<unknown>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      onError(`${path}: ${messageOf(error)}`);
    }
  };

  /** Files that speak of nothing but a base which turned out to be a server's; those may again be bases of others. */
  const readDerived = async (signal: AbortSignal): Promise<void> => {
    for (let before = -1; before !== names.count(); ) {
      before = names.count();
      for (const [path, classes] of [...headers]) {
        if (classes.some((header) => names.isDerived(header))) {
          headers.delete(path);
          await attempt(path, () => readFile(path));
        }
        await breathe(signal);
      }
    }
  };

  const refresh = async (paths: readonly string[]): Promise<void> => {
    const waiting = new Set(paths);
    for (const [path, consulted] of consultedBy) {
      if (paths.some((changedPath) => consulted.has(changedPath))) {
        waiting.add(path);
      }
    }
    for (const path of waiting) {
      // Of a file that is open, the text in the editor counts, whatever is on disk.
      const isNew = paths.includes(path) && store.documentOf(path) === undefined;
      const bytes = isNew && inWorkspace(path) ? await files.read(path) : undefined;
      await attempt(path, async () => {
        if (isNew && !bytes) {
          drop(path);
        } else if (!isNew || !bytes || lookAt(path, bytes)) {
          await readFile(path, isNew ? bytes : undefined);
        } else {
          found.delete(path);
        }
      });
    }
    await readDerived(ended.signal);
    tell.request();
  };

  /** One after the other: two refreshes of one file would race. */
  let refreshing: Promise<void> = Promise.resolve();
  const refreshSoon = (paths: readonly string[]): void => {
    refreshing = refreshing.then(() => refresh(paths)).catch((error: unknown) => reportUnlessEnded(error));
  };
  /** What is typed changes what other files inherit, but nobody needs to see that with every letter. */
  const typedIn = new Set<string>();
  const refreshTyped = createThrottle(() => {
    refreshSoon([...typedIn]);
    typedIn.clear();
  }, TYPING_EVERY_MS);
  const documentChanged = (path: string): void => {
    if (complete) {
      typedIn.add(path);
      refreshTyped.request();
    }
  };
  const reportUnlessEnded = (error: unknown): void => {
    if (!ended.signal.aborted) {
      onError(messageOf(error));
    }
  };

  const readDocument = (path: string, facts: ModuleFacts): ServerFile => {
    const isOther = store.documentOf(path) !== facts;
    store.setDocument(path, facts);
    const known = documents.get(path);
    if (known?.facts === facts && known.generation === store.generation()) {
      return known.file;
    }
    const reading = store.readNow(path, facts);
    documents.set(path, { facts, generation: store.generation(), file: reading.file });
    if (reading.missing.size > 0) {
      void Promise.all([...reading.missing].map(store.load)).then(() => tell.request());
    }
    if (isOther) {
      documentChanged(path);
    }
    return reading.file;
  };

  return {
    onDidChange: changed.event,
    files: () => found,
    isComplete: () => complete,
    build(signal) {
      const both = signal ? AbortSignal.any([signal, ended.signal]) : ended.signal;
      building ??= buildAll(both).catch((error: unknown) => {
        // A build that was called off can be asked for again.
        building = undefined;
        if (!both.aborted) {
          throw error;
        }
      });
      return building;
    },
    update(paths) {
      for (const path of paths) {
        store.forget(path);
      }
      if (complete) {
        refreshSoon(paths);
      } else {
        tell.request();
      }
    },
    async read(path) {
      const facts = store.documentOf(path) ?? (await store.load(path));
      return facts && (await store.read(path, facts)).file;
    },
    readDocument,
    closeDocument(path) {
      documents.delete(path);
      if (store.documentOf(path)) {
        store.setDocument(path, undefined);
        documentChanged(path);
      }
    },
    async findRayUse(path) {
      const facts = store.documentOf(path) ?? (await store.load(path));
      return facts && (await findRayUse(path, facts, store, roots(), installed(path)));
    },
    mayHoldServers: (text) => names.mayHold(text),
    dispose() {
      ended.abort();
      refreshTyped.dispose();
      tell.dispose();
      changed.dispose();
    },
  };
}

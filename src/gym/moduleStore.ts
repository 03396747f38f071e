import { messageOf } from '../common/userError';
import { createFollower, type Follower, type LoadedModules } from './followImports';
import type { ModuleFacts } from './moduleFacts';
import { isInside, workspaceFolders } from './moduleSearch';
import type { ReadFacts } from './readFacts';
import { readServerFile } from './readings';
import type { ServerFile } from './serverFile';
import type { SourceFiles } from './serverIndex';

/** The facts of the modules that have been read, and which files there are. */
export interface ModuleStore {
  /** What a text on disk says; read once, until it is forgotten. Undefined when there is no such file. */
  load(path: string): Promise<ModuleFacts | undefined>;
  /** The same of bytes that have been read already. */
  take(path: string, bytes: Uint8Array): Promise<ModuleFacts>;
  /** The facts of a text in the editor count before those of the file. */
  setDocument(path: string, facts: ModuleFacts | undefined): void;
  documentOf(path: string): ModuleFacts | undefined;
  forget(path: string): void;
  /** Whether there is such a file; undefined when nobody has looked. */
  isThere(path: string): boolean | undefined;
  /** All Python files below a root: with that, it is known of every other one that it is not there. */
  setListing(root: string, paths: readonly string[]): void;
  /** A reading with the imports that have been read; what it asked for and did not get is in `missing`. */
  readNow(path: string, facts: ModuleFacts): Reading;
  /** A reading with every import that can be found. */
  read(path: string, facts: ModuleFacts): Promise<Reading>;
  /** Changes whenever a reading may come out differently. */
  generation(): number;
}

export interface Reading {
  readonly file: ServerFile;
  readonly missing: ReadonlySet<string>;
  readonly consulted: ReadonlySet<string>;
}

export interface ModuleStoreOptions {
  readonly files: Pick<SourceFiles, 'read'>;
  readonly read: ReadFacts;
  readonly roots: () => readonly string[];
  /** The folders of the packages that are installed for a file. */
  readonly installed: (path: string) => readonly string[];
  readonly onError: (message: string) => void;
}

/** More rounds would mean that each round of imports asks for yet another one; real code ends after a few. */
const MOST_ROUNDS = 100;

export function createModuleStore({ files, read, roots, installed, onError }: ModuleStoreOptions): ModuleStore {
  const facts = new Map<string, ModuleFacts>();
  const absent = new Set<string>();
  const documents = new Map<string, ModuleFacts>();
  const loading = new Map<string, Promise<ModuleFacts | undefined>>();
  const listings = new Map<string, ReadonlySet<string>>();
  /** What came or went since the listing. */
  const touched = new Set<string>();
  let generation = 0;

  const loaded: LoadedModules = {
    probe(path) {
      if (documents.has(path) || facts.has(path)) {
        return true;
      }
      if (absent.has(path)) {
        return false;
      }
      for (const [root, listing] of touched.has(path) ? [] : listings) {
        if (isInside(path, root) && !installed(path).some((folder) => isInside(path, folder))) {
          return listing.has(path);
        }
      }
      return undefined;
    },
    factsOf: (path) => documents.get(path) ?? facts.get(path),
  };

  const keep = async (path: string, bytes: Uint8Array): Promise<ModuleFacts> => {
    const own = await read(bytes);
    facts.set(path, own);
    absent.delete(path);
    generation++;
    return own;
  };

  /** Whoever asks for the file in the meantime waits for the same reading of it. */
  const take = (path: string, bytes: Uint8Array): Promise<ModuleFacts> => {
    const taken = keep(path, bytes);
    loading.set(
      path,
      taken.catch(() => {
        absent.add(path);
        return undefined;
      }),
    );
    return taken.finally(() => loading.delete(path));
  };

  const loadAnew = async (path: string): Promise<ModuleFacts | undefined> => {
    const bytes = await files.read(path);
    if (bytes) {
      return await keep(path, bytes);
    }
    absent.add(path);
    generation++;
    return undefined;
  };

  const load = (path: string): Promise<ModuleFacts | undefined> => {
    const known = facts.get(path);
    if (known || absent.has(path)) {
      return Promise.resolve(known);
    }
    const started =
      loading.get(path) ??
      loadAnew(path)
        .catch((error: unknown) => {
          onError(`${path}: ${messageOf(error)}`);
          absent.add(path);
          return undefined;
        })
        .finally(() => loading.delete(path));
    loading.set(path, started);
    return started;
  };

  const follower = (path: string): Follower =>
    createFollower({ workspace: workspaceFolders(path, roots()), installed: installed(path) }, loaded);

  const readNow = (path: string, own: ModuleFacts): Reading => {
    const { follow, missing, consulted } = follower(path);
    return { file: readServerFile(path, own, follow), missing, consulted };
  };

  return {
    load,
    take,
    setDocument(path, own) {
      const before = documents.get(path);
      if (before === own) {
        return;
      }
      if (own) {
        documents.set(path, own);
      } else {
        documents.delete(path);
      }
      generation++;
    },
    documentOf: (path) => documents.get(path),
    forget(path) {
      facts.delete(path);
      absent.delete(path);
      touched.add(path);
      generation++;
    },
    isThere: loaded.probe,
    setListing(root, paths) {
      listings.set(root, new Set(paths));
      generation++;
    },
    readNow,
    async read(path, own) {
      for (let round = 0; ; round++) {
        const reading = readNow(path, own);
        if (reading.missing.size === 0 || round === MOST_ROUNDS) {
          return reading;
        }
        await Promise.all([...reading.missing].map(load));
      }
    },
    generation: () => generation,
  };
}

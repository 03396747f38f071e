import { createEmitter, type Event } from '../common/emitter';
import { createThrottle } from '../common/throttle';
import { type Composition, type ConfiguredServer, composeConfiguration, type FoundConfiguration } from './composition';
import { type Configuration, type NamedInstance, readConfiguration, SERVER_KINDS } from './configuration';
import { gymRootOf } from './moduleSearch';
import type { ServerIndex, SourceFiles } from './serverIndex';
import { type FoundServer, type Verdict, verdictOf } from './verdict';

/** The files that an index of configurations reads. Paths are absolute, with `/` between their parts. */
export interface ConfigurationFiles extends Pick<SourceFiles, 'read'> {
  /** Every YAML file below a folder, without what is never a configuration (virtual environments, caches). */
  listConfigurations(folder: string, signal: AbortSignal): Promise<readonly string[]>;
}

export interface ConfigurationIndexOptions {
  readonly files: ConfigurationFiles;
  readonly servers: Pick<ServerIndex, 'read' | 'onDidChange'>;
  /** The folders of the workspace. */
  readonly roots: () => readonly string[];
  /** `NEMO_GYM_EXTRA_ROOTS`: Gym looks there first. */
  readonly extraRoots: readonly string[];
  /** The folder in which the nemo_gym that runs a configuration is installed: it looks there last. */
  readonly installRoot: (path: string) => Promise<string | undefined>;
}

/** A place where a configuration names a server. */
export interface Naming {
  readonly path: string;
  readonly configuration: Configuration;
  readonly instance: NamedInstance;
}

/** The Gym configurations of a workspace, and what they come to. */
export interface ConfigurationIndex {
  /** Fires, not more often than a person can see, when any answer may have changed. */
  readonly onDidChange: Event<void>;
  /** Every configuration of the workspace, by its path. It grows while the index is being built. */
  configurations(): ReadonlyMap<string, Configuration>;
  /** Whether every file has been looked at. */
  isComplete(): boolean;
  /** Looks at every file of the roots, in the background; a second call joins the first. */
  build(signal?: AbortSignal): Promise<void>;
  /** Takes up files that have been written, made or deleted; those of servers too, since verdicts rest on them. */
  update(paths: readonly string[]): void;
  /** The configurations that name a server file themselves, by their paths. */
  naming(serverPath: string): Promise<readonly Naming[]>;
  /** What a configuration comes to, with all that it names; of an open document, what it says now. */
  verdict(path: string, configuration: Configuration): Promise<Verdict>;
  dispose(): void;
}

/** A file larger than this is data, not a configuration. */
const MOST_BYTES = 1_000_000;
/** More YAML files than these are left out, so that a workspace of data does not fill the memory. */
const MOST_FILES = 20_000;
const READ_AT_ONCE = 8;
const TELL_EVERY_MS = 250;

/** Makes an index; it does nothing before it is asked. */
export function createConfigurationIndex(options: ConfigurationIndexOptions): ConfigurationIndex {
  const { files, servers } = options;
  const configurations = new Map<string, Configuration>();
  const changed = createEmitter<void>();
  const told = createThrottle(() => changed.fire(), TELL_EVERY_MS);
  const ended = new AbortController();
  let building: Promise<void> | undefined;
  let complete = false;
  /** What was found on the disk, until anything changes there. */
  let found = new Map<string, Promise<Configuration | 'missing' | 'without servers'>>();
  let existing = new Map<string, Promise<boolean>>();
  let verdicts = new WeakMap<Configuration, Map<string, Promise<Verdict>>>();

  const forget = (): void => {
    found = new Map();
    existing = new Map();
    verdicts = new WeakMap();
    told.request();
  };
  const serversChanged = servers.onDidChange(() => {
    verdicts = new WeakMap();
    told.request();
  });

  const readFile = async (path: string): Promise<Configuration | 'missing' | 'without servers'> => {
    const bytes = await files.read(path);
    if (bytes === undefined) {
      return 'missing';
    }
    return bytes.length > MOST_BYTES
      ? 'without servers'
      : ((await readConfiguration(new TextDecoder().decode(bytes))) ?? 'without servers');
  };

  /** The latest wish to read each file: of two readings that overtake each other the later one counts. */
  const wishes = new Map<string, symbol>();
  const take = async (path: string): Promise<void> => {
    const wish = Symbol(path);
    wishes.set(path, wish);
    const configuration = await readFile(path);
    if (ended.signal.aborted || wishes.get(path) !== wish) {
      return;
    }
    wishes.delete(path);
    if (typeof configuration === 'string') {
      configurations.delete(path);
    } else {
      configurations.set(path, configuration);
    }
    told.request();
  };

  const buildAll = async (signal: AbortSignal): Promise<void> => {
    const lists = await Promise.all(options.roots().map((root) => files.listConfigurations(root, signal)));
    const paths = [...new Set(lists.flat())].slice(0, MOST_FILES);
    const present = new Set(paths);
    for (const path of configurations.keys()) {
      if (!present.has(path)) {
        configurations.delete(path);
      }
    }
    const waiting = paths.values();
    const readOn = async (): Promise<void> => {
      for (const path of waiting) {
        signal.throwIfAborted();
        await take(path);
        // The parser works at a stretch; between two files others have their turn.
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    await Promise.all(Array.from({ length: READ_AT_ONCE }, readOn));
    complete = true;
    told.now();
  };

  const cached = <T>(cache: Map<string, Promise<T>>, key: string, make: () => Promise<T>): Promise<T> => {
    const value = cache.get(key) ?? make();
    cache.set(key, value);
    return value;
  };

  const configurationAt = (path: string): Promise<Configuration | 'missing' | 'without servers'> => {
    const known = configurations.get(path);
    return known ? Promise.resolve(known) : cached(found, path, () => readFile(path));
  };

  const exists = (path: string): Promise<boolean> =>
    cached(existing, path, async () => (await files.read(path)) !== undefined);
  const isMarked = async (folder: string): Promise<boolean> =>
    (await exists(`${folder}/requirements.txt`)) || (await exists(`${folder}/pyproject.toml`));

  const searchRoots = async (configurationPath: string): Promise<readonly string[]> => {
    const installRoot = await options.installRoot(configurationPath);
    return [
      ...new Set([
        ...options.extraRoots,
        // Gym is run in one folder of the workspace, and knows nothing of the others.
        ...foldersAbove(configurationPath, options.roots()),
        ...(installRoot === undefined ? [] : [installRoot]),
      ]),
    ];
  };

  const findConfiguration = async (
    entry: string,
    roots: readonly string[],
  ): Promise<FoundConfiguration | 'missing' | 'without servers'> => {
    for (const path of entry.startsWith('/') ? [entry] : roots.map((root) => joined(root, entry))) {
      const configuration = await configurationAt(path);
      if (configuration !== 'missing') {
        return configuration === 'without servers' ? configuration : { path, configuration };
      }
    }
    return 'missing';
  };

  const locate = async (
    { kind, name, entrypoint }: Pick<ConfiguredServer, 'kind' | 'name' | 'entrypoint'>,
    roots: readonly string[],
  ): Promise<Omit<FoundServer, 'file'> | undefined> => {
    if (entrypoint === undefined) {
      return undefined;
    }
    const folders = roots.map((root) => joined(root, `${kind}/${name}`));
    for (const folder of folders) {
      if (await isMarked(folder)) {
        return { path: joined(folder, entrypoint), isMarked: true };
      }
    }
    // Gym would not take it, but a person who has forgotten the marker means it.
    for (const folder of folders) {
      const path = joined(folder, entrypoint);
      if (await exists(path)) {
        return { path, isMarked: false };
      }
    }
    return undefined;
  };

  const findServer = async (server: ConfiguredServer, roots: readonly string[]): Promise<FoundServer | undefined> => {
    const place = await locate(server, roots);
    return place && { ...place, file: await servers.read(place.path) };
  };

  const settle = async (path: string, configuration: Configuration): Promise<Verdict> => {
    const roots = await searchRoots(path);
    const composition: Composition = await composeConfiguration({ path, configuration }, (entry) =>
      findConfiguration(entry, roots),
    );
    return verdictOf(composition, await Promise.all(composition.servers.map((server) => findServer(server, roots))));
  };

  /** Of a server that is in no folder of the workspace, and so in no index: what stands in its own folder. */
  const configurationsBeside = async (serverPath: string): Promise<Map<string, Configuration>> => {
    const root = gymRootOf(serverPath);
    const [kind, name] = root === undefined ? [] : serverPath.slice(root.length + 1).split('/');
    const beside = new Map<string, Configuration>();
    if (root !== undefined && kind !== undefined && name !== undefined) {
      for (const path of await files.listConfigurations(joined(root, `${kind}/${name}`), ended.signal)) {
        const configuration = await configurationAt(path);
        if (typeof configuration !== 'string') {
          beside.set(path, configuration);
        }
      }
    }
    return beside;
  };
  const isInWorkspace = (path: string): boolean => options.roots().some((root) => isBelow(path, root));

  return {
    onDidChange: changed.event,
    configurations: () => configurations,
    isComplete: () => complete,
    build(signal) {
      building ??= buildAll(signal ? AbortSignal.any([signal, ended.signal]) : ended.signal).catch((error: unknown) => {
        // A build that was cancelled or failed can be asked for again.
        building = undefined;
        throw error;
      });
      return building;
    },
    update(paths) {
      forget();
      for (const path of configurations.keys()) {
        if (!isInWorkspace(path)) {
          configurations.delete(path);
        }
      }
      for (const path of paths) {
        if (isYaml(path) && isInWorkspace(path) && building) {
          void take(path);
        }
      }
    },
    async naming(serverPath) {
      const namings: Naming[] = [];
      const known = isInWorkspace(serverPath) ? configurations : await configurationsBeside(serverPath);
      for (const [path, configuration] of known) {
        for (const instance of configuration.instances) {
          const { kind, server: name, entrypoint } = instance;
          if (kind === undefined || name === undefined || entrypoint === undefined) {
            continue;
          }
          // The ending tells most apart, without a look at the disk.
          if (!serverPath.endsWith(joined(`/${kind}/${name}`, entrypoint.file))) {
            continue;
          }
          const server = await locate({ kind, name, entrypoint: entrypoint.file }, await searchRoots(path));
          if (server?.path === serverPath) {
            namings.push({ path, configuration, instance });
          }
        }
      }
      return namings.sort((a, b) => a.path.localeCompare(b.path));
    },
    verdict(path, configuration) {
      const byPath = verdicts.get(configuration) ?? new Map<string, Promise<Verdict>>();
      verdicts.set(configuration, byPath);
      return cached(byPath, path, () => settle(path, configuration));
    },
    dispose() {
      ended.abort();
      serversChanged.dispose();
      told.dispose();
      changed.dispose();
    },
  };
}

/** Whether a file is one that an index of configurations reads. */
export function isYaml(path: string): boolean {
  return /\.ya?ml$/i.test(path);
}

export function isBelow(path: string, folder: string): boolean {
  return path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
}

/** The folders of a Gym checkout in which configurations stand. */
const LAYOUT_FOLDERS: ReadonlySet<string> = new Set([...SERVER_KINDS, 'benchmarks', 'environments']);

/**
 * The folders from which Gym may be run for a configuration, the nearest first: the one that holds the checkout's folder
 * in which the configuration stands, else its own, and those above it up to the folder of the workspace.
 */
function foldersAbove(path: string, roots: readonly string[]): string[] {
  const root = roots.filter((candidate) => isBelow(path, candidate)).sort((a, b) => b.length - a.length)[0];
  const parts = path.split('/').slice(0, -1);
  const top = root === undefined ? parts.length : root.replace(/\/$/, '').split('/').length;
  const layout = parts.findIndex((part, index) => index >= (root === undefined ? 0 : top) && LAYOUT_FOLDERS.has(part));
  const nearest = layout < 0 ? parts.length : layout;
  const count = root === undefined ? 1 : nearest - top + 1;
  return Array.from({ length: count }, (_, up) => parts.slice(0, nearest - up).join('/'));
}

/** Joins a relative path to a folder, with its `.` and `..` worked out. */
function joined(folder: string, relative: string): string {
  const parts = folder.split('/');
  for (const part of relative.split('/')) {
    if (part === '..') {
      parts.pop();
    } else if (part !== '.' && part !== '') {
      parts.push(part);
    }
  }
  return parts.join('/');
}

import {
  COPY,
  type Configuration,
  type ConfigurationMap,
  type ConfigurationValue,
  DELETE,
  INHERIT,
  inheritedPath,
  SERVER_KINDS,
  type ServerKind,
} from './configuration';

/** A server that Gym starts for a configuration. */
export interface ConfiguredServer {
  /** The key in the configuration: Gym's name for the process. */
  readonly instance: string;
  readonly kind: ServerKind;
  /** The folder in that of the kind. */
  readonly name: string;
  /** The file in that folder; undefined when only running Gym could tell. */
  readonly entrypoint: string | undefined;
}

/** What a configuration is together with those that it names. */
export interface Composition {
  /** In the order in which Gym starts them. */
  readonly servers: readonly ConfiguredServer[];
  /** Why Gym refuses the configuration as it stands, each a sentence. */
  readonly problems: readonly string[];
}

/** A configuration that another one names. */
export interface FoundConfiguration {
  readonly path: string;
  readonly configuration: Configuration;
}

/**
 * Puts a configuration together as `gym env start --config` does (0.7.0, `GlobalConfigDictParser.parse`): the files that
 * `config_paths` names below it, then `_inherit_from` and `_copy`, then the agent without a task in the place of the others.
 * What the command line and `env.yaml` add is not known here. The environment servers that 0.7.0 makes up for agents which
 * have none are left out: no configuration names them, and later versions refuse those agents instead.
 *
 * @param find the configuration that an entry of `config_paths` means; undefined when there is none.
 */
export async function composeConfiguration(
  start: FoundConfiguration,
  find: (entry: string) => Promise<FoundConfiguration | 'missing' | 'without servers'>,
): Promise<Composition> {
  const problems: string[] = [];
  let merged: ConfigurationMap = new Map();
  for (const { content } of await inMergeOrder(start, find, problems)) {
    merged = mergeMaps(merged, content);
  }
  const root = mutableCopy(merged);
  inherit(root, root, merged, problems);
  rehostAgents(root);
  return { servers: serversIn(root, problems), problems };
}

/** A configuration comes after those that it names, and so has the say over them; of those that stand side by side the last. */
async function inMergeOrder(
  start: FoundConfiguration,
  find: Parameters<typeof composeConfiguration>[1],
  problems: string[],
): Promise<Configuration[]> {
  const entries = [{ ...start, children: [] as number[] }];
  const seen = new Set([start.path]);
  // It grows while it is walked: level by level, as Gym does it, so that a file named twice stands at its first place.
  for (const entry of entries) {
    if (entry.configuration.problem) {
      problems.push(`Gym cannot read ${baseName(entry.path)}: ${entry.configuration.problem.message}`);
    }
    for (const include of entry.configuration.includes) {
      const found = await find(include.path);
      if (found === 'missing') {
        problems.push(`config_paths names ${include.path}, which is not found.`);
      } else if (found !== 'without servers' && !seen.has(found.path)) {
        seen.add(found.path);
        entry.children.push(entries.length);
        entries.push({ ...found, children: [] });
      }
    }
  }
  const ordered: Configuration[] = [];
  const visit = (index: number): void => {
    const entry = entries[index];
    if (entry) {
      entry.children.forEach(visit);
      ordered.push(entry.configuration);
    }
  };
  visit(0);
  return ordered;
}

type MutableValue = string | number | boolean | null | readonly ConfigurationValue[] | MutableMap;
type MutableMap = Map<string, MutableValue>;

function isMap(value: ConfigurationValue | undefined): value is ConfigurationMap {
  return value instanceof Map;
}

function isMutableMap(value: MutableValue | undefined): value is MutableMap {
  return value instanceof Map;
}

/** As OmegaConf merges: maps key by key, everything else as a whole, and `???` says nothing. */
function mergeMaps(below: ConfigurationMap, above: ConfigurationMap): ConfigurationMap {
  const merged = new Map(below);
  for (const [key, value] of above) {
    const old = merged.get(key);
    if (isMap(old) && isMap(value)) {
      merged.set(key, mergeMaps(old, value));
    } else if (value !== '???' || old === undefined) {
      merged.set(key, value);
    }
  }
  return merged;
}

function mutableCopy(map: ConfigurationMap): MutableMap {
  return new Map([...map].map(([key, value]) => [key, isMap(value) ? mutableCopy(value) : value]));
}

/**
 * Gym's `_recursively_swap_keys`, with its ways: what is inherited is taken as it stood before, its own directives
 * untouched, and `_inherit_from` takes the source away, unless its turn to be set comes later.
 */
function inherit(map: MutableMap, root: MutableMap, before: ConfigurationMap, problems: string[]): void {
  for (const [key, value] of [...map]) {
    const toDelete = isMutableMap(value) ? takeDeletions(value) : [];
    if (isMutableMap(value)) {
      inherit(value, root, before, problems);
    }
    const directive = takeDirective(value);
    if (!directive) {
      continue;
    }
    const path = directive.path.split('.');
    const source = valueAt(before, path);
    if (directive.moves) {
      deleteAt(root, path);
    }
    if (source === undefined) {
      problems.push(`${key} inherits from ${directive.path}, which this configuration does not hold.`);
      continue;
    }
    const inherited =
      isMap(source) && isMutableMap(value)
        ? mutableCopy(mergeMaps(source, value))
        : isMap(source)
          ? mutableCopy(source)
          : source;
    map.set(key, inherited);
    if (isMutableMap(inherited)) {
      for (const name of toDelete) {
        inherited.delete(name);
      }
    }
  }
}

/** Deletes what `_delete_key` names, as far as it is there; the rest is to be deleted from what is inherited. */
function takeDeletions(map: MutableMap): string[] {
  const names = map.get(DELETE);
  map.delete(DELETE);
  return typeof names === 'string'
    ? names
        .split(',')
        .map((name) => name.trim())
        .filter((name) => !map.delete(name))
    : [];
}

function takeDirective(value: MutableValue): { readonly path: string; readonly moves: boolean } | undefined {
  if (!isMutableMap(value)) {
    return typeof value === 'string' ? inheritedPath(value) : undefined;
  }
  for (const directive of [INHERIT, COPY]) {
    const path = value.get(directive);
    if (path !== undefined) {
      value.delete(directive);
      return { path: String(path), moves: directive === INHERIT };
    }
  }
  return undefined;
}

function deleteAt(map: MutableMap, [key = '', ...rest]: readonly string[]): void {
  const child = map.get(key);
  if (rest.length === 0) {
    map.delete(key);
  } else if (isMutableMap(child)) {
    deleteAt(child, rest);
  }
}

function valueAt(map: ConfigurationMap, path: readonly string[]): ConfigurationValue | undefined {
  let value: ConfigurationValue | undefined = map;
  for (const key of path) {
    value = isMap(value) ? value.get(key) : undefined;
  }
  return value;
}

/** Gym's `compose_unbound_agent`: the one agent whose `resources_server` has no name takes the place of the others. */
function rehostAgents(root: MutableMap): void {
  const agents = [...root].flatMap(([instance, value]) => {
    const types = isMutableMap(value) ? value.get('responses_api_agents') : undefined;
    const [only, ...others] = isMutableMap(types) ? types : [];
    return isMutableMap(types) && only && isMutableMap(only[1]) && others.length === 0
      ? [
          {
            instance,
            types,
            type: only[0],
            task: valueAt(only[1], ['resources_server']),
            name: valueAt(only[1], ['resources_server', 'name']),
            config: only[1],
          },
        ]
      : [];
  });
  const [source, second] = agents.filter(({ name }) => name === '???');
  const targets = agents.filter((agent) => agent !== source && isMap(agent.task));
  // Without another agent it waits for a configuration that is given beside this one.
  if (!source || second || targets.length === 0) {
    return;
  }
  root.delete(source.instance);
  for (const target of targets) {
    target.types.delete(target.type);
    target.types.set(source.type, source.config);
  }
}

function serversIn(root: MutableMap, problems: string[]): ConfiguredServer[] {
  return [...root].flatMap(([instance, value]) => {
    const [first] = isMutableMap(value) ? value : [];
    const kind = SERVER_KINDS.find((candidate) => candidate === first?.[0]);
    const servers = first?.[1];
    if (kind === undefined || !isMutableMap(servers)) {
      return [];
    }
    // Benchmarks are written with a model that says nothing, to be replaced by the one that is given beside it.
    const [second] =
      kind === 'responses_api_models' && servers.size > 1
        ? [...servers].filter(([name]) => name !== 'dummy_model')
        : servers;
    const entrypoint = second && isMutableMap(second[1]) ? second[1].get('entrypoint') : undefined;
    // For OmegaConf a value that is still to be given is not there.
    if (!second || entrypoint === undefined || entrypoint === '???') {
      return [];
    }
    return [{ instance, kind, name: second[0], entrypoint: entrypointFile(instance, entrypoint, root, problems) }];
  });
}

function entrypointFile(
  instance: string,
  value: MutableValue,
  root: MutableMap,
  problems: string[],
): string | undefined {
  const reference = typeof value === 'string' ? /^\$\{([\w.]+)\}$/.exec(value)?.[1] : undefined;
  const file = reference === undefined ? value : valueAt(root, reference.split('.'));
  if (typeof file !== 'string' || file.includes('${')) {
    return undefined;
  }
  if (file.startsWith('/')) {
    problems.push(`The entrypoint of ${instance} is an absolute path; Gym takes only one in the folder of the server.`);
  }
  return file;
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

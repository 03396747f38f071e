import type { SourceRange } from '../python/syntax';
import type { Read, ReadMap } from './readYaml';

/** The first keys under which Gym finds a server to start; each is the name of a folder too. */
export const SERVER_KINDS = [
  'resources_servers',
  'responses_api_agents',
  'responses_api_models',
  'environment_servers',
] as const;
export type ServerKind = (typeof SERVER_KINDS)[number];

/** What a configuration says, without its positions. */
export type ConfigurationValue = string | number | boolean | null | readonly ConfigurationValue[] | ConfigurationMap;
/** In the order of the file: Gym takes the first key of a level, whatever else there is. */
export type ConfigurationMap = ReadonlyMap<string, ConfigurationValue>;

/** What one YAML file says to Gym by itself. What it is together with the files that it names: see composition.ts. */
export interface Configuration {
  readonly content: ConfigurationMap;
  /** The servers that stand in this file, in its order. */
  readonly instances: readonly NamedInstance[];
  /** Other configurations that this one is laid over: `config_paths`. */
  readonly includes: readonly { readonly path: string; readonly range: SourceRange }[];
  /** Why Gym refuses to read the file; the rest is then what could be made of it. */
  readonly problem: { readonly message: string; readonly range: SourceRange } | undefined;
}

/** `INSTANCE: {TYPE: {NAME: {entrypoint}}}`, as far as this file says it: the rest may come through `_inherit_from`. */
export interface NamedInstance {
  readonly name: string;
  /** The key. */
  readonly range: SourceRange;
  /** The key and all below it. */
  readonly block: SourceRange;
  readonly kind: ServerKind | undefined;
  /** The folder in that of the kind. */
  readonly server: string | undefined;
  readonly entrypoint: { readonly file: string; readonly range: SourceRange } | undefined;
}

/** Where an instance takes what it does not say itself. */
export const INHERIT = '_inherit_from';
export const COPY = '_copy';
export const DELETE = '_delete_key';
const DIRECTIVES: ReadonlySet<string> = new Set([INHERIT, COPY, DELETE]);

const MAY_NAME_SERVERS = new RegExp(`\\b(?:${SERVER_KINDS.join('|')})\\b|^["']?config_paths\\b`, 'm');

/** Whether it is worth parsing a text: it speaks of a kind of server, or of configurations to be laid under it. */
export function mayBeConfiguration(text: string): boolean {
  return MAY_NAME_SERVERS.test(text);
}

/** Reads one YAML file; undefined when it has nothing to do with Gym. Does its best with a broken file and never throws. */
export async function readConfiguration(text: string): Promise<Configuration | undefined> {
  if (!mayBeConfiguration(text)) {
    return undefined;
  }
  const { readYaml } = await import('./readYaml');
  const { root, problem } = readYaml(text);
  if (root === undefined) {
    return undefined;
  }
  const instances = [...root.entries].flatMap(([name, { keyRange, value }]) => {
    const instance = readInstance(name, keyRange, value);
    return instance ? [instance] : [];
  });
  const includes = root.entries.get('config_paths')?.value.items ?? [];
  const configuration: Configuration = {
    content: root.plain,
    instances,
    includes: includes.flatMap(({ plain, range }) => (typeof plain === 'string' ? [{ path: plain, range }] : [])),
    problem,
  };
  return configuration.instances.length > 0 || configuration.includes.length > 0 ? configuration : undefined;
}

function readInstance(name: string, range: SourceRange, value: Read): NamedInstance | undefined {
  const block = { ...range, endLine: value.range.endLine, endColumn: value.range.endColumn };
  const nothing = { name, range, block, kind: undefined, server: undefined, entrypoint: undefined };
  if (typeof value.plain === 'string') {
    return inheritedPath(value.plain) === undefined ? undefined : nothing;
  }
  const isComposed = value.map?.entries.has(INHERIT) || value.map?.entries.has(COPY);
  const first = value.map ? firstEntry(value.map) : undefined;
  const kind = SERVER_KINDS.find((candidate) => candidate === first?.key);
  if (kind === undefined) {
    return isComposed ? nothing : undefined;
  }
  const second = first?.value.map ? firstEntry(first.value.map) : undefined;
  const entrypoint = second?.value.map?.entries.get('entrypoint')?.value;
  return {
    ...nothing,
    kind,
    server: second?.key,
    entrypoint: typeof entrypoint?.plain === 'string' ? { file: entrypoint.plain, range: entrypoint.range } : undefined,
  };
}

/** `x.y` of `${inherit_from:x.y}` or `${copy:x.y}`, and whether what stands there is to go. */
export function inheritedPath(text: string): { readonly path: string; readonly moves: boolean } | undefined {
  const match = /^\$\{(inherit_from|copy):(.*?)\}?$/s.exec(text);
  return match?.[2] === undefined ? undefined : { path: match[2], moves: match[1] === 'inherit_from' };
}

function firstEntry(map: ReadMap): { readonly key: string; readonly value: Read } | undefined {
  for (const [key, { value }] of map.entries) {
    if (!DIRECTIVES.has(key)) {
      return { key, value };
    }
  }
  return undefined;
}

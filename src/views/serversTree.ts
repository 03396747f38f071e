import type { Configuration, ServerKind } from '../gym/configuration';
import { SERVER_KINDS } from '../gym/configuration';
import type { Naming } from '../gym/configurationIndex';
import { isInside } from '../gym/moduleSearch';
import { type RunState, stateWords } from '../gym/runningConfigurations';
import type { ServerFile } from '../gym/serverFile';
import { FLAG_WORDS, flagOf, type ServerFlag, type ServerFlagReading } from '../gym/serverFlag';
import { placeOf, startedNames } from '../gym/serverPlace';
import { type ConfiguredFlag, type GymVersion, type Verdict, verdictWords } from '../gym/verdict';
import type { SourceRange } from '../python/syntax';

/** A server file as the tree lists it. */
export interface ServerEntry extends ServerFlagReading {
  readonly path: string;
  readonly kind: ServerKind | 'other';
  /** The name of its folder in that of the kind, with the file unless that is app.py; for others the path below the root. */
  readonly name: string;
  readonly file: ServerFile;
}

/** One line of the tree, without VS Code. */
export type ServersNode =
  | {
      readonly type: 'group';
      readonly id: string;
      readonly group: ServerKind | 'other' | 'configurations';
      readonly count: number;
    }
  | { readonly type: 'server'; readonly id: string; readonly entry: ServerEntry }
  | {
      readonly type: 'configuration';
      readonly id: string;
      readonly path: string;
      readonly configuration: Configuration;
      /** Where it names the server under which it stands. */
      readonly place: SourceRange | undefined;
    }
  | { readonly type: 'configuredServer'; readonly id: string; readonly server: ConfiguredFlag };

/** What a line shows. */
export interface ServersItem {
  readonly label: string;
  readonly description: string;
  readonly tooltip: string;
  /** A codicon, and a theme colour for it. */
  readonly icon: { readonly id: string; readonly color?: string } | undefined;
  /** What a screen reader says. */
  readonly spoken: string;
  readonly hasChildren: boolean;
  /** What its menu goes by, when not by the type of the node. */
  readonly context?: string;
  /** What a click opens. */
  readonly opens?: { readonly path: string; readonly range: SourceRange };
}

const GROUP_LABELS: Readonly<Record<ServerKind | 'other' | 'configurations', string>> = {
  resources_servers: 'Resources servers',
  responses_api_agents: 'Agents',
  responses_api_models: 'Models',
  environment_servers: 'Environment servers',
  other: 'Other servers',
  configurations: 'Configurations',
};

const FLAG_ICONS: Readonly<Record<ServerFlag | 'missing', { readonly id: string; readonly color?: string }>> = {
  on: { id: 'zap', color: 'testing.iconPassed' },
  off: { id: 'circle-slash' },
  undeclared: { id: 'question', color: 'problemsWarningIcon.foreground' },
  unreadable: { id: 'warning', color: 'problemsWarningIcon.foreground' },
  missing: { id: 'error', color: 'problemsErrorIcon.foreground' },
};

const KIND_NAMES: ReadonlySet<string> = new Set(SERVER_KINDS);
const TOP: SourceRange = { startLine: 0, startColumn: 0, endLine: 0, endColumn: 0 };

/**
 * The files that are servers: they start one, or a configuration names them. A file that only holds classes for others is
 * none.
 */
export function serverEntries(
  files: ReadonlyMap<string, ServerFile>,
  configurations: ReadonlyMap<string, Configuration>,
  roots: readonly string[],
): ServerEntry[] {
  const named = new Set(
    [...configurations.values()].flatMap(({ instances }) =>
      instances.flatMap(({ kind, server, entrypoint }) => (entrypoint ? [`${kind}/${server}/${entrypoint.file}`] : [])),
    ),
  );
  const entries: ServerEntry[] = [];
  for (const [path, file] of files) {
    const place = serverPlace(path, roots);
    const isStarted = file.startCalls.some(({ starts }) => starts);
    if (isStarted || (place.within !== undefined && named.has(place.within))) {
      entries.push({ path, file, kind: place.kind, name: place.name, ...flagOf(file) });
    }
  }
  return entries.sort((a, b) => a.name.localeCompare(b.name) || a.path.localeCompare(b.path));
}

/** How many servers have each flag. */
export function countFlags(entries: readonly ServerEntry[]): Readonly<Record<ServerFlag, number>> {
  const counts = { on: 0, off: 0, undeclared: 0, unreadable: 0 };
  for (const { flag } of entries) {
    counts[flag] += 1;
  }
  return counts;
}

/** `2 on, 5 off, 1 not declared`: only what there is. */
export function countsInWords(entries: readonly ServerEntry[]): string {
  const counts = countFlags(entries);
  return FLAGS.flatMap((flag) => (counts[flag] > 0 ? [`${counts[flag]} ${FLAG_WORDS[flag]}`] : [])).join(', ');
}

export const FLAGS: readonly ServerFlag[] = ['on', 'off', 'undeclared', 'unreadable'];

/** The groups that have something to show; with a filter, only groups of servers. */
export function groupNodes(
  entries: readonly ServerEntry[],
  configurations: ReadonlyMap<string, Configuration>,
  filter: ServerFlag | undefined,
): ServersNode[] {
  const groups = [...SERVER_KINDS, 'other' as const].map((group) => ({
    group,
    count: shown(entries, filter).filter(({ kind }) => kind === group).length,
  }));
  const all = [...groups, { group: 'configurations' as const, count: filter ? 0 : configurations.size }];
  return all.flatMap(({ group, count }) => (count > 0 ? [{ type: 'group', id: `group:${group}`, group, count }] : []));
}

/** The servers of a group that the filter lets through. */
export function serverNodes(
  entries: readonly ServerEntry[],
  group: ServerKind | 'other',
  filter: ServerFlag | undefined,
): ServersNode[] {
  return shown(entries, filter)
    .filter(({ kind }) => kind === group)
    .map((entry) => ({ type: 'server', id: `server:${entry.path}`, entry }));
}

/** All configurations, by their paths. */
export function configurationNodes(configurations: ReadonlyMap<string, Configuration>): ServersNode[] {
  return [...configurations]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([path, configuration]) => ({
      type: 'configuration',
      id: `configuration:${path}`,
      path,
      configuration,
      place: undefined,
    }));
}

/** The configurations that name a server, each once, at the first place where it does. */
export function namingNodes(serverPath: string, namings: readonly Naming[]): ServersNode[] {
  const first = new Map(namings.toReversed().map((naming) => [naming.path, naming]));
  return [...first.values()].toReversed().map(({ path, configuration, instance }) => ({
    type: 'configuration',
    id: `server:${serverPath}>${path}`,
    path,
    configuration,
    place: instance.range,
  }));
}

/** The servers that a configuration starts. */
export function configuredServerNodes(parentId: string, verdict: Verdict): ServersNode[] {
  return verdict.servers.map((server) => ({
    type: 'configuredServer',
    id: `${parentId}>${server.instance}`,
    server,
  }));
}

export function groupItem({ group, count }: Extract<ServersNode, { type: 'group' }>): ServersItem {
  const label = GROUP_LABELS[group];
  return {
    label,
    description: String(count),
    tooltip: label,
    icon: undefined,
    spoken: `${label}, ${count}`,
    hasChildren: true,
  };
}

/** @param folder the name of its folder of the workspace, when there are several */
export function serverItem(
  { entry }: Extract<ServersNode, { type: 'server' }>,
  folder: string | undefined,
): ServersItem {
  const { name, flag, reason, file, path } = entry;
  const words = [FLAG_WORDS[flag], ...startedNames(file)].join(', ');
  return {
    label: name,
    description: [words, ...(folder === undefined ? [] : [folder])].join(' · '),
    tooltip: reason === undefined ? path : `${path}\nGym cannot settle ray_enabled: ${reason}.`,
    icon: FLAG_ICONS[flag],
    spoken: [`${name}, Ray ${words}`, ...(folder === undefined ? [] : [folder])].join(', '),
    hasChildren: true,
    opens: { path, range: placeOf(file) },
  };
}

export function configurationItem(
  { path, place }: Extract<ServersNode, { type: 'configuration' }>,
  verdict: Verdict,
  version: GymVersion,
  folder: string,
  run: RunState | undefined,
): ServersItem {
  const label = path.slice(path.lastIndexOf('/') + 1);
  const { title, details } = verdictWords(verdict, version);
  const state = run ? [stateWords(run)] : [];
  return {
    label,
    description: [...state, title, ...(folder === '' ? [] : [folder])].join(' · '),
    tooltip: [path, title, ...details].join('\n'),
    icon: run ? RUN_ICONS[run.kind] : VERDICT_ICONS[verdict.startsRay],
    spoken: [label, ...state, title, folder].join(', '),
    hasChildren: place === undefined && verdict.servers.length > 0,
    ...(run && run.kind !== 'failed' && { context: 'runningConfiguration' }),
    opens: { path, range: place ?? TOP },
  };
}

const RUN_ICONS: Readonly<Record<RunState['kind'], { readonly id: string; readonly color?: string }>> = {
  starting: { id: 'loading~spin' },
  running: { id: 'server-process', color: 'testing.iconPassed' },
  stopping: { id: 'loading~spin' },
  failed: { id: 'error', color: 'problemsErrorIcon.foreground' },
};
const VERDICT_ICONS: Readonly<Record<Verdict['startsRay'], { readonly id: string; readonly color?: string }>> = {
  yes: FLAG_ICONS.on,
  no: FLAG_ICONS.off,
  unsettled: FLAG_ICONS.undeclared,
};

export function configuredServerItem({ server }: Extract<ServersNode, { type: 'configuredServer' }>): ServersItem {
  const { instance, kind, name, flag, reason, path, file } = server;
  const description = `${FLAG_WORDS[flag]}, ${kind}/${name}`;
  return {
    label: instance,
    description,
    tooltip: reason === undefined ? (path ?? '') : `Gym cannot settle ray_enabled: ${reason}.`,
    icon: FLAG_ICONS[flag],
    spoken: `${instance}, Ray ${description}`,
    hasChildren: false,
    ...(path !== undefined && file ? { opens: { path, range: placeOf(file) } } : {}),
  };
}

/** A path without the folder of the workspace that it is in. */
export function belowRoot(path: string, roots: readonly string[]): string {
  const root = roots.filter((candidate) => isInside(path, candidate)).sort((a, b) => b.length - a.length)[0];
  return root === undefined ? path : path.slice(root.length).replace(/^\//, '');
}

function shown(entries: readonly ServerEntry[], filter: ServerFlag | undefined): readonly ServerEntry[] {
  return filter ? entries.filter(({ flag }) => flag === filter) : entries;
}

function serverPlace(
  path: string,
  roots: readonly string[],
): { readonly kind: ServerKind | 'other'; readonly name: string; readonly within: string | undefined } {
  const relative = belowRoot(path, roots);
  const parts = path.split('/');
  const at = parts.findLastIndex((part) => KIND_NAMES.has(part));
  const kind = SERVER_KINDS.find((candidate) => candidate === parts[at]);
  const [folder, ...rest] = parts.slice(at + 1);
  if (kind === undefined || folder === undefined || rest.length === 0) {
    return { kind: 'other', name: relative, within: undefined };
  }
  const file = rest.join('/');
  return { kind, name: file === 'app.py' ? folder : `${folder}/${file}`, within: `${kind}/${folder}/${file}` };
}

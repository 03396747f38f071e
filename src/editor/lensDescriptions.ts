import type { FlagOrigin, ServerClass, ServerFile, StartedElsewhere } from '../gym/serverFile';
import type { SourceRange } from '../python/syntax';
import { flagTooltip, startedElsewhereTooltip } from './lensTooltips';
import { flagTitle, startedElsewhereTitle, startedTitle } from './lensWords';

/** Where the cluster is, as far as a lens needs to know. */
export type RayState = 'none' | 'starting' | 'running' | 'stopping';

export type LensAction =
  /** Opens the place. */
  | { readonly reveal: SourceRange /** Undefined for the same file. */; readonly file?: string | undefined }
  | { readonly command: 'shardboard.startCluster' | 'shardboard.joinCluster' | 'shardboard.showCluster' }
  /** Runs the server of the file. */
  | { readonly command: 'shardboard.runServer'; readonly withFile: true }
  /** Asks for the value and writes it into the class with this name. */
  | { readonly declareIn: SourceRange; readonly asClassVar: boolean };

/** A code lens before VS Code: what it says, where, and what a click does. */
export interface LensDescription {
  readonly range: SourceRange;
  readonly title: string;
  readonly tooltip?: string;
  /** Nothing happens on a click when there is none. */
  readonly action?: LensAction;
}

/**
 * The lenses of a file: on each server class what holds of its flag and whether this file starts it, on those that it starts
 * what can be done about it, and on the calls that start a class of another file what that says.
 */
export function describeLenses(file: ServerFile, ray: RayState): LensDescription[] {
  return [
    ...file.classes.flatMap((server) => classLenses(server, file.parses, ray)),
    ...file.startedElsewhere.flatMap((elsewhere) => elsewhereLenses(elsewhere, file.parses, ray)),
  ];
}

/** A line with more is not read; the last is the one that is missed least. */
const MOST_LENSES = 5;

const RUN: Pick<LensDescription, 'title' | 'tooltip' | 'action'> = {
  title: 'Run server',
  tooltip: 'Start a configuration of this server with gym env start',
  action: { command: 'shardboard.runServer', withFile: true },
};

function classLenses(server: ServerClass, parses: boolean, ray: RayState): LensDescription[] {
  const range = server.nameRange;
  const place = placeOf(server.tree.origin, server);
  const [call] = server.startCalls;
  const started = startedTitle(server);
  return [
    {
      range,
      title: flagTitle(server, parses),
      tooltip: flagTooltip(server, parses),
      ...(place ? { action: place } : {}),
    },
    ...(call && started !== undefined
      ? [{ range, title: started, tooltip: 'Show the call of run_webserver', action: { reveal: call.range } }]
      : []),
    ...(parses && server.starts && server.isTopLevel && server.declared === 'not_declared'
      ? [
          {
            range,
            title: 'Add declaration',
            tooltip: 'Write ray_enabled into this class',
            action: { declareIn: range, asClassVar: server.inheritsField },
          },
        ]
      : []),
    ...(parses && server.starts ? [{ range, ...RUN }] : []),
    ...(server.starts ? clusterLenses(range, server.tree.value, ray) : []),
  ].slice(0, MOST_LENSES);
}

/** Where the value comes from; of what nobody declares, what comes nearest to it in the class. */
function placeOf(origin: FlagOrigin | undefined, server: ServerClass): LensAction | undefined {
  if (origin?.kind === 'base') {
    return { reveal: origin.range, file: origin.file };
  }
  const setAgain =
    origin?.kind === 'own' && origin.setAgainOnLine !== undefined
      ? server.warnings.findLast(({ range }) => range.startLine === origin.setAgainOnLine)?.range
      : undefined;
  const reveal = setAgain ?? server.declaration ?? server.warnings[0]?.range;
  return reveal && { reveal };
}

function elsewhereLenses(elsewhere: StartedElsewhere, parses: boolean, ray: RayState): LensDescription[] {
  const { call, tree } = elsewhere;
  const { origin } = tree;
  return [
    {
      range: call.range,
      title: startedElsewhereTitle(elsewhere, parses),
      tooltip: startedElsewhereTooltip(elsewhere, parses),
      ...(origin?.kind === 'base' ? { action: { reveal: origin.range, file: origin.file } } : {}),
    },
    ...(call.starts ? clusterLenses(call.range, tree.value, ray) : []),
  ];
}

function clusterLenses(range: SourceRange, value: ServerClass['tree']['value'], ray: RayState): LensDescription[] {
  // What may turn out to use Ray can look at the cluster that is there, but is no reason to start one.
  if (value === 'off' || (value !== 'on' && ray !== 'running')) {
    return [];
  }
  return clusterWords(ray).map((words) => ({ range, ...words }));
}

function clusterWords(ray: RayState): Omit<LensDescription, 'range'>[] {
  switch (ray) {
    case 'none':
      return [
        {
          title: 'Start Ray',
          tooltip: 'Start a Ray cluster on this machine',
          action: { command: 'shardboard.startCluster' },
        },
        {
          title: 'Join Ray',
          tooltip: 'Join a Ray cluster that runs already',
          action: { command: 'shardboard.joinCluster' },
        },
      ];
    case 'starting':
      return [{ title: 'Ray is starting', action: { command: 'shardboard.showCluster' } }];
    case 'running':
      return [{ title: 'Open Ray cluster', action: { command: 'shardboard.showCluster' } }];
    case 'stopping':
      return [{ title: 'Ray is stopping', action: { command: 'shardboard.showCluster' } }];
  }
}

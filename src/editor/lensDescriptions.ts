import type { ServerClass, ServerFile } from '../gym/serverFile';
import type { SourceRange } from '../python/syntax';

/** Where the cluster is, as far as a lens needs to know. */
export type RayState = 'none' | 'starting' | 'running' | 'stopping';

/** A code lens before VS Code: what it says, where, and what a click does. */
export interface LensDescription {
  readonly range: SourceRange;
  readonly title: string;
  readonly tooltip?: string;
  /** Nothing happens on a click when there is none. */
  readonly action?:
    | { readonly reveal: SourceRange }
    | { readonly command: 'shardboard.startCluster' | 'shardboard.showCluster' };
}

/** The lenses of a file: on each server class what it says about Ray, and on those that the file starts what to do about it. */
export function describeLenses(file: ServerFile, ray: RayState): LensDescription[] {
  return file.classes.flatMap((server) => {
    const action = server.starts ? actionLens(server, ray) : undefined;
    return action ? [flagLens(server), action] : [flagLens(server)];
  });
}

function flagLens(server: ServerClass): LensDescription {
  const { declaration } = server;
  return {
    range: server.nameRange,
    ...flagWords(server),
    ...(declaration ? { action: { reveal: declaration } } : {}),
  };
}

function flagWords({ declared, sameFile }: ServerClass): { title: string; tooltip: string } {
  const declaringBase = sameFile.origin?.kind === 'base' ? sameFile.origin.className : undefined;
  switch (declared) {
    case 'on':
      return { title: 'Ray: on', tooltip: 'ray_enabled is True: this server connects to a Ray cluster.' };
    case 'off':
      return { title: 'Ray: off', tooltip: 'ray_enabled is False: this server does not connect to Ray.' };
    case 'unreadable':
      return {
        title: 'Ray: not a plain True or False',
        tooltip:
          'Gym reads ray_enabled from the source before it starts the server, and only as a plain True or False.',
      };
    case 'not_declared':
      return declaringBase === undefined
        ? {
            title: 'Ray: not declared',
            tooltip: 'Without ray_enabled, Gym 0.7.0 uses Ray and warns; later versions do not use Ray.',
          }
        : {
            title: `Ray: not declared here, but in ${declaringBase}`,
            tooltip: `${declaringBase} sets ray_enabled. Gym reads the source of this class only, and does not follow its bases.`,
          };
  }
}

function actionLens(server: ServerClass, ray: RayState): LensDescription | undefined {
  if (server.declared === 'off' || (server.declared !== 'on' && ray !== 'running')) {
    return undefined;
  }
  return { range: server.nameRange, ...actionWords(ray) };
}

function actionWords(ray: RayState): Omit<LensDescription, 'range'> {
  switch (ray) {
    case 'none':
      return {
        title: 'Start Ray',
        tooltip: 'Start a Ray cluster on this machine',
        action: { command: 'shardboard.startCluster' },
      };
    case 'starting':
      return { title: 'Ray is starting', action: { command: 'shardboard.showCluster' } };
    case 'running':
      return { title: 'Open Ray cluster', action: { command: 'shardboard.showCluster' } };
    case 'stopping':
      return { title: 'Ray is stopping', action: { command: 'shardboard.showCluster' } };
  }
}

import { dirname, join } from 'node:path';

/** How Gym is started for a configuration: no shell is between, so that no path has to be quoted. */
export interface ServerCommand {
  /** The absolute path of the `gym` of the chosen environment. */
  readonly program: string;
  readonly args: readonly string[];
}

/**
 * `gym env start` for one configuration.
 *
 * @param python the interpreter of the environment that has nemo-gym
 * @param rayAddress the GCS address of a cluster to join, `HOST:PORT`; without it Gym starts one when it needs it
 */
export function serverCommand(python: string, configuration: string, rayAddress: string | undefined): ServerCommand {
  return {
    program: join(dirname(python), 'gym'),
    args: [
      'env',
      'start',
      '--config',
      configuration,
      // Without the plus, Gym takes it for a key that is to be overridden, and refuses it.
      ...(rayAddress === undefined ? [] : [`+ray_head_node_address=${rayAddress}`]),
    ],
  };
}

import { delimiter, dirname, join } from 'node:path';

/** How Gym is started for a configuration: no shell is between, so that no path has to be quoted for one. */
export interface ServerCommand {
  /** The absolute path of the `gym` of the chosen environment. */
  readonly program: string;
  readonly args: readonly string[];
}

export interface ServerCommandOptions {
  /** The absolute path of a YAML file. */
  readonly configuration: string;
  /** The GCS address of a cluster to join, `HOST:PORT`; without it Gym starts one when it needs it. */
  readonly rayAddress?: string | undefined;
  /** Where Gym's head server is to listen, when not where the configuration says, or else on 11000. */
  readonly headPort?: number | undefined;
}

/** `gym env start` for one configuration, with the `gym` beside the interpreter of its environment. */
export function serverCommand(
  python: string,
  { configuration, rayAddress, headPort }: ServerCommandOptions,
): ServerCommand {
  return {
    program: join(dirname(python), 'gym'),
    args: [
      'env',
      'start',
      '--config',
      hydraValue(configuration),
      // Without the plus, Gym takes it for a key that is to be overridden, and refuses it.
      ...(rayAddress === undefined ? [] : [`+ray_head_node_address=${rayAddress}`]),
      ...(headPort === undefined ? [] : [`+head_server.port=${headPort}`]),
    ],
  };
}

/**
 * Gym hands the path to Hydra as part of a list, and Hydra's grammar refuses many characters that are not quoted: a comma, an
 * equals sign, an ampersand, every letter with an accent.
 */
function hydraValue(text: string): string {
  if (/^[\w./ +:@%-]*$/.test(text)) {
    return text;
  }
  // A backslash is one, unless it stands before a quote.
  return `'${text.replace(/(\\*)'/g, "$1$1\\'").replace(/\\+$/, '$&$&')}'`;
}

/**
 * What Gym's environment has besides that of the editor; undefined for what it must not have.
 *
 * @param tokenFile the file with the token of the cluster that is joined; the token itself is in no environment
 */
export function serverEnvironment(
  python: string,
  tokenFile: string | undefined,
): Readonly<Record<string, string | undefined>> {
  return {
    // As in an environment that is activated: Gym calls uv, which may be installed there only.
    PATH: [dirname(python), process.env.PATH].filter(Boolean).join(delimiter),
    // Gym writes as it goes and in colours, although it writes into a pipe.
    PYTHONUNBUFFERED: '1',
    FORCE_COLOR: '1',
    ...(tokenFile !== undefined && {
      RAY_AUTH_MODE: 'token',
      RAY_AUTH_TOKEN_PATH: tokenFile,
      // Ray would take this one instead.
      RAY_AUTH_TOKEN: undefined,
    }),
  };
}

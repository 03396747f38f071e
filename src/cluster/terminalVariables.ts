import type { DriverAccess } from './driverAccess';

/** What a terminal gets so that Ray's own tools and programs work on a cluster. */
export interface ClusterInTerminal {
  /** Of the Jobs API. */
  readonly dashboardUrl: string;
  /** How a program on this machine can join, or why it cannot. */
  readonly access: DriverAccess | { readonly reason: string };
  /** What Ray calls RAY_AUTH_TOKEN_PATH; undefined when there is no token, or none in a file. */
  readonly tokenFile: string | undefined;
}

/**
 * The variables by which Ray finds a cluster. `ray.init()` takes RAY_ADDRESS, in which it refuses a URL; `ray job` takes
 * RAY_API_SERVER_ADDRESS before it. The token itself is in none of them.
 */
export function terminalVariables({
  dashboardUrl,
  access,
  tokenFile,
}: ClusterInTerminal): Readonly<Record<string, string>> {
  return {
    RAY_API_SERVER_ADDRESS: dashboardUrl,
    ...('reason' in access ? {} : { RAY_ADDRESS: access.gcsAddress }),
    ...(tokenFile !== undefined && {
      RAY_AUTH_MODE: 'token',
      RAY_AUTH_TOKEN_PATH: tokenFile,
      // Ray would take this one instead; an empty one it takes for none.
      RAY_AUTH_TOKEN: '',
    }),
  };
}

/** What a person is told about it. */
export function terminalWords({ dashboardUrl, access, tokenFile }: ClusterInTerminal, hasToken: boolean): string {
  const programs =
    'reason' in access
      ? `\`ray job\` works on the Ray cluster at ${dashboardUrl}. \`ray.init()\` cannot join it: ${access.reason}.`
      : `\`ray job\` and \`ray.init()\` work on the Ray cluster at ${dashboardUrl}.`;
  return hasToken && tokenFile === undefined
    ? `${programs} The token of the cluster is in no file, and is not handed on: set RAY_AUTH_TOKEN_PATH yourself.`
    : programs;
}

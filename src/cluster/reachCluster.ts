import { createRayClient, type RayClient, type RayNode, type RayVersion } from '../ray/client';
import { RayError } from '../ray/rayError';
import { type JoinedCluster, readToken } from './clusterAccess';

/** A cluster that answers, with the client that talks to it. */
export interface ReachedCluster {
  readonly url: string;
  readonly token: string | undefined;
  /** Belongs to the caller, who closes it. */
  readonly client: RayClient;
  readonly version: RayVersion;
  readonly nodes: readonly RayNode[];
}

/**
 * Reaches a cluster that others started.
 *
 * @param ca certificates in PEM form that are believed besides those that Node.js brings
 * @throws RayError when nothing answers there, or not as Ray does, or its token is gone.
 */
export async function reachCluster({ url, access }: JoinedCluster, ca: string | undefined): Promise<ReachedCluster> {
  try {
    const token = await readToken(access.token);
    const client = createRayClient({ url, token, headers: access.headers, ca });
    try {
      return { url, token, client, version: await client.version(), nodes: await client.nodes() };
    } catch (error) {
      await client.close();
      throw error;
    }
  } catch (error) {
    throw withWayOut(error, url);
  }
}

/** Other tokens, and headers for a proxy, are asked for where a cluster is joined. */
function withWayOut(error: unknown, url: string): unknown {
  if (!(error instanceof RayError)) {
    return error;
  }
  const { kind, message, actions } = error;
  const again = { title: 'Join again', command: 'shardboard.joinCluster', args: [url] };
  const header = { title: 'Join with a header', command: 'shardboard.joinCluster', args: [url, { askFirst: true }] };
  switch (kind) {
    case 'unauthorized':
    case 'forbidden':
      return new RayError(kind, message, { cause: error }, [again]);
    // What a proxy answers that wants a person to log in.
    case 'unexpected_answer':
      return new RayError(kind, message, { cause: error }, [...actions, header]);
    default:
      return error;
  }
}

import { normaliseAddress } from '../ray/address';
import { createRayClient, type RayClient, type RayNode, type RayVersion } from '../ray/client';

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
 * Reaches a cluster by an address as people type it.
 *
 * @throws UserError when the address cannot be right; RayError when nothing answers there, or not as Ray does.
 */
export async function reachCluster(address: string, token: string | undefined): Promise<ReachedCluster> {
  const url = normaliseAddress(address);
  const client = createRayClient({ url, token });
  try {
    return { url, token, client, version: await client.version(), nodes: await client.nodes() };
  } catch (error) {
    await client.close();
    throw error;
  }
}

import { readFile } from 'node:fs/promises';
import { homedir, networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '../common/userError';
import type { RayClient, RayNode } from '../ray/client';
import type { ClusterState } from './service';

/** What a program on this machine needs to work on the cluster as a driver of its own. */
export interface DriverAccess {
  /** `IP:port` for `ray.init`. */
  readonly gcsAddress: string;
  /** What Ray calls RAY_AUTH_TOKEN_PATH; undefined when the cluster asks for no token. */
  readonly tokenFile: string | undefined;
}

/** The cluster as its service knows it. */
export interface KnownCluster {
  state(): ClusterState;
  client(): Pick<RayClient, 'gcsAddress'> | undefined;
  token(): string | undefined;
  tokenFile(): string | undefined;
}

/**
 * How a program on this machine can join the cluster that runs; the reason, the end of a sentence, when it cannot.
 *
 * @param machine what is looked at of this machine; only tests name another one
 */
export async function driverAccess(
  cluster: KnownCluster,
  machine: { readonly addresses: readonly string[]; readonly tokenFiles: readonly string[] } = thisMachine(),
): Promise<DriverAccess | { readonly reason: string }> {
  const state = cluster.state();
  if (state.kind !== 'running') {
    return { reason: 'it does not run' };
  }
  if (state.gcsAddress !== undefined) {
    return { gcsAddress: state.gcsAddress, tokenFile: cluster.tokenFile() };
  }
  // Ray connects a driver through the node on its own machine.
  const node = state.nodes.find(({ ip, state }) => state === 'ALIVE' && machine.addresses.includes(ip));
  if (!node) {
    return { reason: 'this machine is none of its nodes, and Ray lets only programs on its nodes join' };
  }
  const address = await cluster
    .client()
    ?.gcsAddress(node.id)
    .catch((error: unknown) => ({ reason: `it does not tell its address: ${messageOf(error)}` }));
  if (typeof address !== 'string') {
    return address ?? { reason: 'it does not tell its address' };
  }
  const tokenFile = await tokenFileOf(cluster, machine.tokenFiles);
  // Not written into one here: the token of a cluster that was joined stays in the editor's secret storage.
  return cluster.token() !== undefined && tokenFile === undefined
    ? { reason: `its token is in no file where Ray would look. Put it into ${machine.tokenFiles.at(-1)}` }
    : { gcsAddress: address, tokenFile };
}

/** What Ray calls RAY_AUTH_TOKEN_PATH of the cluster; undefined when there is no token, or none in a file. */
export async function tokenFileOf(
  cluster: Pick<KnownCluster, 'token' | 'tokenFile'>,
  files: readonly string[] = thisMachine().tokenFiles,
): Promise<string | undefined> {
  const token = cluster.token();
  return cluster.tokenFile() ?? (token === undefined ? undefined : await fileWith(token, files));
}

/** What a program is to join the cluster with. */
export interface DriverVersions {
  readonly python: string;
  /** Undefined when it has no Ray. */
  readonly ray: string | undefined;
}

/**
 * Ray lets a program join only with its very own versions, to the last figure of both.
 *
 * @returns what differs, the end of a sentence that names both sides; undefined when nothing does.
 */
export async function versionMismatch(
  cluster: { state(): ClusterState; client(): Pick<RayClient, 'pythonVersion'> | undefined },
  own: DriverVersions,
): Promise<string | undefined> {
  const state = cluster.state();
  const client = cluster.client();
  if (state.kind !== 'running' || !client) {
    return undefined;
  }
  let python: string;
  try {
    python = await client.pythonVersion();
  } catch (error) {
    return `it does not tell its Python version: ${messageOf(error)}`;
  }
  if (python === own.python && state.rayVersion === own.ray) {
    return undefined;
  }
  const has = own.ray === undefined ? 'no Ray' : `Ray ${own.ray}`;
  return `it runs Ray ${state.rayVersion} on Python ${python}, and the Python that is chosen here has ${has} on Python ${own.python}; Ray asks for the same on both sides`;
}

/**
 * Whether jobs start on this machine, so that they find its files. Not a question of the address: a port that is forwarded
 * is on the loopback too.
 */
export function isHeadHere(nodes: readonly RayNode[], addresses: readonly string[] = thisMachine().addresses): boolean {
  return nodes.some(({ isHead, state, ip }) => isHead && state === 'ALIVE' && addresses.includes(ip));
}

async function fileWith(token: string, files: readonly string[]): Promise<string | undefined> {
  for (const file of files) {
    const text = await readFile(file, 'utf8').catch(() => undefined);
    if (text?.trim() === token) {
      return file;
    }
  }
  return undefined;
}

function thisMachine(): { addresses: readonly string[]; tokenFiles: readonly string[] } {
  const addresses = Object.values(networkInterfaces()).flatMap((some) => (some ?? []).map(({ address }) => address));
  const named = process.env.RAY_AUTH_TOKEN_PATH;
  return { addresses, tokenFiles: [...(named ? [named] : []), join(homedir(), '.ray', 'auth_token')] };
}

import { networkInterfaces } from 'node:os';
import { isLoopback, normaliseAddress } from '../ray/address';
import { createRayClient, type RayVersion } from '../ray/client';
import { RayError } from '../ray/rayError';
import { rayAddressOfGym } from './gymCluster';
import { listProcesses, type ProcessRow } from './processes';

/** How a cluster was found: `process` is one that runs on this machine, `usual` what answers at Ray's usual address. */
export type ClusterOrigin = 'started' | 'process' | 'gym' | 'RAY_ADDRESS' | 'RAY_API_SERVER_ADDRESS' | 'usual';

export interface FoundCluster {
  /** As `normaliseAddress` makes it. */
  readonly url: string;
  /** `IP:port` of its GCS, when its processes are seen. */
  readonly gcsAddress: string | undefined;
  /** Its temp folder, when its processes are seen: what tells it from others even when it asks for a token. */
  readonly folder: string | undefined;
  /** Undefined when it tells nothing without a token. */
  readonly version: RayVersion | undefined;
  /** All ways in which it was found. */
  readonly origins: readonly ClusterOrigin[];
}

/** What is looked at of this machine. */
export interface DiscoverySources {
  /** The dashboard of the cluster that was started here. */
  readonly startedUrl: string | undefined;
  readonly env?: NodeJS.ProcessEnv;
  readonly processes?: () => Promise<readonly ProcessRow[]>;
  readonly gymAddress?: () => Promise<string | undefined>;
  /** Addresses of this machine. */
  readonly addresses?: readonly string[];
  readonly usualUrl?: string;
  readonly ca?: string | undefined;
}

/** Long for a cluster on this machine, short for a person who waits for the list. */
const ANSWER_LIMIT_MS = 1500;

/**
 * Finds the clusters that are near: those whose processes the user owns, that of a running Gym, those that Ray's own
 * variables name, and what answers at Ray's usual address (a port that is forwarded, for example). Each has answered.
 * No token is sent.
 */
export async function discoverClusters(sources: DiscoverySources): Promise<readonly FoundCluster[]> {
  const {
    startedUrl,
    env = process.env,
    // Without ps, the other ways are left.
    processes = () => listProcesses('own').catch(() => []),
    gymAddress = rayAddressOfGym,
    addresses = localAddresses(),
    usualUrl = 'http://127.0.0.1:8265',
  } = sources;
  const [rows, gym] = await Promise.all([processes(), gymAddress()]);
  const running = runningDashboards(rows);
  const candidates = new Map<string, Omit<FoundCluster, 'url' | 'version'>>();
  const add = (url: string | undefined, origin: ClusterOrigin, seen?: RunningDashboard): void => {
    if (url === undefined) {
      return;
    }
    const key = url.replace('//localhost', '//127.0.0.1');
    const known = candidates.get(key);
    candidates.set(key, {
      gcsAddress: known?.gcsAddress ?? seen?.gcsAddress,
      folder: known?.folder ?? seen?.folder,
      origins: [...(known?.origins ?? []), origin],
    });
  };
  const dashboardFor = (address: string | undefined): string | undefined =>
    address === undefined ? undefined : (dashboardOf(running, address, addresses) ?? likelyDashboard(address));
  add(startedUrl, 'started');
  for (const dashboard of running) {
    add(dashboard.url, 'process', dashboard);
  }
  add(dashboardFor(gym), 'gym');
  add(dashboardFor(env.RAY_ADDRESS), 'RAY_ADDRESS');
  add(dashboardFor(env.RAY_API_SERVER_ADDRESS), 'RAY_API_SERVER_ADDRESS');
  add(usualUrl, 'usual');
  const found = await Promise.all(
    [...candidates].map(async ([url, candidate]) => {
      const version = await askVersion(url, sources.ca);
      return version === 'nobody' ? [] : [{ url, ...candidate, version }];
    }),
  );
  return found.flat();
}

interface RunningDashboard {
  readonly url: string;
  readonly gcsAddress: string;
  readonly folder: string;
}

/** The dashboards in a list of processes. */
export function runningDashboards(rows: readonly ProcessRow[]): readonly RunningDashboard[] {
  return rows.flatMap(({ commandLine }) => {
    if (!commandLine.includes('/ray/dashboard/dashboard.py ')) {
      return [];
    }
    const option = (name: string): string => new RegExp(` --${name}=(\\S*)`).exec(commandLine)?.[1] ?? '';
    const [host, port, gcsAddress] = [option('host'), option('port'), option('gcs-address')];
    // One that listens everywhere, or on localhost, listens here too.
    const here = ['', '0.0.0.0', '::', 'localhost'].includes(host) ? '127.0.0.1' : host;
    const url = `http://${inUrl(here)}:${port}`;
    return port !== '' && URL.canParse(url) ? [{ url, gcsAddress, folder: option('temp-dir') }] : [];
  });
}

/**
 * The dashboard of the cluster whose GCS has this address; undefined when it is none of them.
 *
 * @param addresses of this machine: a GCS that is asked for by another of them, or by the loopback, is the same one
 */
export function dashboardOf(
  running: readonly { readonly url: string; readonly gcsAddress: string | undefined }[],
  address: string,
  addresses: readonly string[] = localAddresses(),
): string | undefined {
  const asked = hostAndPort(address);
  return running.find(({ gcsAddress }) => {
    const own = gcsAddress === undefined ? undefined : hostAndPort(gcsAddress);
    const isHere = asked !== undefined && (addresses.includes(asked.host) || isLoopback(`http://${inUrl(asked.host)}`));
    return own !== undefined && own.port === asked?.port && (own.host === asked.host || isHere);
  })?.url;
}

function inUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

function hostAndPort(address: string): { readonly host: string; readonly port: string } | undefined {
  const url = `http://${address.trim()}`;
  if (!/^[^/]*:\d+$/.test(address.trim()) || !URL.canParse(url)) {
    return undefined;
  }
  return { host: new URL(url).hostname.replace(/^\[|\]$/g, ''), port: /\d+$/.exec(address.trim())?.[0] ?? '' };
}

/** Where the dashboard most likely is when an address is of another part of Ray; undefined when it is no address. */
function likelyDashboard(address: string): string | undefined {
  try {
    const isWeb = /^https?:\/\//i.test(address);
    const host = hostAndPort(address.replace(/^ray:\/\//i, ''))?.host;
    return normaliseAddress(isWeb || host === undefined ? address : host);
  } catch {
    return undefined;
  }
}

async function askVersion(url: string, ca: string | undefined): Promise<RayVersion | undefined | 'nobody'> {
  const client = createRayClient({ url, ca });
  try {
    return await client.version({ signal: AbortSignal.timeout(ANSWER_LIMIT_MS) });
  } catch (error) {
    return error instanceof RayError && error.kind === 'unauthorized' ? undefined : 'nobody';
  } finally {
    await client.close();
  }
}

function localAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((some) => (some ?? []).map(({ address }) => address));
}

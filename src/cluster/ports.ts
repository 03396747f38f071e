import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { UserError } from '../common/userError';

/**
 * Above the ports of Ray's workers (10002 to 19999, where Ray refuses any other), and below those that the system hands
 * out by itself (from 32768 on Linux, 49152 on macOS): Ray's parts that take any port, and outgoing connections, could
 * otherwise take one between our look and Ray's.
 */
const LOWEST = 20_000;
const HIGHEST = 32_767;
const TRIES = 200;

/** The ports of a cluster. Each has a default that all clusters of a machine would share. */
export interface ClusterPorts {
  readonly gcs: number;
  readonly dashboard: number;
  /** Without the agent that listens there a cluster takes no jobs. */
  readonly dashboardAgent: number;
  /** For drivers elsewhere that connect by ray://. Cannot be left out: Ray then takes 10001. */
  readonly clientServer: number;
  /** Where figures about the cluster are for everybody to read, without a token. */
  readonly dashboardMetrics: number;
  readonly autoscalerMetrics: number;
}

/** Finds free ports for a cluster. */
export async function findClusterPorts(): Promise<ClusterPorts> {
  const found: number[] = [];
  const next = async (): Promise<number> => {
    const port = await findFreePort(found);
    found.push(port);
    return port;
  };
  return {
    gcs: await next(),
    dashboard: await next(),
    dashboardAgent: await next(),
    clientServer: await next(),
    dashboardMetrics: await next(),
    autoscalerMetrics: await next(),
  };
}

/** Finds a TCP port that is free on all addresses. It is free when found; nothing holds it. */
export async function findFreePort(except: readonly number[] = []): Promise<number> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const port = randomInt(LOWEST, HIGHEST + 1);
    if (!except.includes(port) && (await isPortFree(port))) {
      return port;
    }
  }
  throw new UserError(`No free port was found between ${LOWEST} and ${HIGHEST} on this machine.`);
}

/** Whether nobody listens on a port. Both addresses: on macOS a port that another program has on one of them can still be taken on the other. */
export async function isPortFree(port: number): Promise<boolean> {
  return (await canListen(port, '0.0.0.0')) && (await canListen(port, '127.0.0.1'));
}

function canListen(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, host, () => server.close(() => resolve(true)));
  });
}

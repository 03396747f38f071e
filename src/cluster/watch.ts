import type { Disposable } from '../common/emitter';
import type { RayClient, RayNode, RayVersion } from '../ray/client';
import { RayError } from '../ray/rayError';
import type { ClusterRecord } from './clusterRecord';
import { endedPart } from './findCluster';

export interface WatchedCluster {
  readonly url: string;
  readonly client: RayClient;
  /** Of a cluster that we started. */
  readonly record?: ClusterRecord;
}

/** What was found out about a cluster at one look. */
export interface Sighting {
  readonly version: RayVersion;
  readonly nodes: readonly RayNode[];
}

export interface WatchListeners {
  onSeen(sighting: Sighting): void;
  /** It will not come back: why, in a sentence. */
  onGone(message: string): Promise<void>;
}

/** Looks at one cluster again and again until it is disposed. */
export interface ClusterWatch extends Disposable {
  /** Looks at once; when a look is under way already, waits for that one. */
  look(): Promise<void>;
}

const LOOK_EVERY_MS = 5000;
/** A joined cluster may be behind a network: one lost packet is not its end. */
const MISSES_UNTIL_GONE = 3;

/** Starts to watch a cluster. After `dispose` the listeners hear nothing more. */
export function watchCluster(cluster: WatchedCluster, listeners: WatchListeners): ClusterWatch {
  let isOver = false;
  /** Looks in a row that got no answer. */
  let misses = 0;
  let looking: Promise<void> | undefined;
  const timer = setInterval(() => {
    lookOnce().catch(() => undefined);
  }, LOOK_EVERY_MS);
  timer.unref();

  /** Never two looks at once, however slow the answers are. */
  function lookOnce(): Promise<void> {
    looking ??= look().finally(() => {
      looking = undefined;
    });
    return looking;
  }

  async function look(): Promise<void> {
    const sighting = await see(cluster);
    if (isOver) {
      return;
    }
    if (sighting) {
      misses = 0;
      listeners.onSeen(sighting);
      return;
    }
    misses += 1;
    const message = await reasonToGiveUp();
    if (message !== undefined && !isOver) {
      await listeners.onGone(message);
    }
  }

  async function reasonToGiveUp(): Promise<string | undefined> {
    if (cluster.record) {
      // Not by the answers alone: a machine that is busy or has slept is silent too, and its cluster still runs.
      const ended = await endedPart(cluster.record);
      return ended && `The Ray cluster is gone: ${ended} has ended.`;
    }
    return misses >= MISSES_UNTIL_GONE
      ? `The Ray cluster at ${cluster.url} no longer answers. Join it again when it is back.`
      : undefined;
  }

  return {
    look: lookOnce,
    dispose() {
      isOver = true;
      clearInterval(timer);
    },
  };
}

/** One look; undefined when it is not this cluster that answers, or its head node is not alive. */
async function see({ client, record }: WatchedCluster): Promise<Sighting | undefined> {
  try {
    const version = await client.version();
    const nodes = await client.nodes();
    if (!record) {
      // A joined cluster that was started anew is another one, at the same address.
      return { version, nodes };
    }
    const isOurs = version.sessionName === record.sessionName;
    return isOurs && nodes.some((node) => node.isHead && node.state === 'ALIVE') ? { version, nodes } : undefined;
  } catch (error) {
    if (error instanceof RayError) {
      return undefined;
    }
    throw error;
  }
}

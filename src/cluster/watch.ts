import type { Disposable } from '../common/emitter';
import type { RayClient, RayJob, RayMemory, RayNode, RayUsage, RayVersion } from '../ray/client';
import { RayError } from '../ray/rayError';
import type { ClusterRecord } from './clusterRecord';
import { endedPart } from './findCluster';
import { type Attention, type Clock, createPacing, systemClock } from './pacing';

export interface WatchedCluster {
  readonly client: RayClient;
  /** Of a cluster that we started. */
  readonly record?: ClusterRecord;
}

/** What was found out about a cluster at one look. */
export interface Sighting {
  readonly version: RayVersion;
  readonly nodes: readonly RayNode[];
}

/** What goes on on a cluster. Each part is undefined until it was asked for and told. */
export interface ClusterActivity {
  /** By the id of a node. */
  readonly usage?: ReadonlyMap<string, RayUsage> | undefined;
  /** By the id of a node. Only asked for while the tree is to be seen. */
  readonly memory?: ReadonlyMap<string, RayMemory> | undefined;
  /** Only asked for while the tree is to be seen. */
  readonly jobs?: readonly RayJob[] | undefined;
}

/** A cluster that does not answer, which says nothing about whether it runs. */
export interface Silence {
  /** When it answered last, in milliseconds since 1970. */
  readonly lastHeard: number;
  /** Why there was no answer, in a sentence. */
  readonly reason: string;
}

export interface WatchListeners {
  onSeen(sighting: Sighting, activity: ClusterActivity): void;
  onSilence(silence: Silence): void;
  /** It will not come back: why, in a sentence. Only of a cluster that we started. */
  onGone(message: string): Promise<void>;
}

/** Looks at one cluster again and again until it is disposed, as often as somebody pays attention; at first nobody does. */
export interface ClusterWatch extends Disposable {
  attend(attention: Attention): void;
  /** Looks at once; when a look is under way already, waits for that one. */
  look(): Promise<void>;
}

/** Within this time after its start Ray tells what is used. */
const FIRST_COUNT_MS = 30_000;

/** Starts to watch a cluster that has just answered. After `dispose` the listeners hear nothing more. */
export function watchCluster(
  cluster: WatchedCluster,
  listeners: WatchListeners,
  clock: Clock = systemClock,
): ClusterWatch {
  let isOver = false;
  let attention: Attention = 'none';
  const begin = clock.now();
  let lastHeard = begin;
  const pacing = createPacing(look, clock);

  async function look(): Promise<boolean> {
    const seen = await see(cluster);
    if (isOver) {
      return true;
    }
    const isHeard = !(seen instanceof RayError);
    // Not by the answers alone: a machine that is busy or has slept is silent too, and its cluster still runs.
    if (cluster.record && !(isHeard && seen.nodes.some((node) => node.isHead && node.state === 'ALIVE'))) {
      const ended = await endedPart(cluster.record);
      if (ended !== undefined && !isOver) {
        await listeners.onGone(`The Ray cluster is gone: ${ended} has ended.`);
        return false;
      }
    }
    if (!isHeard) {
      if (!isOver) {
        listeners.onSilence({ lastHeard, reason: seen.message });
      }
      return false;
    }
    const activity = await activityOf(cluster.client, attention);
    if (!isOver) {
      lastHeard = clock.now();
      listeners.onSeen(seen, activity);
    }
    // Asked again soon while Ray has not counted yet.
    const isNew = clock.now() - begin < FIRST_COUNT_MS;
    return !(isNew && activity.usage?.size === 0);
  }

  return {
    attend(next) {
      attention = next;
      pacing.attend(next);
    },
    look: pacing.lookNow,
    dispose() {
      isOver = true;
      pacing.dispose();
    },
  };
}

/** The cluster, when it is still this one that answers; else why it was not heard. */
async function see({ client, record }: WatchedCluster): Promise<Sighting | RayError> {
  try {
    const version = await client.version();
    if (record && version.sessionName !== record.sessionName) {
      return new RayError('unexpected_answer', `Another Ray cluster answers at ${record.dashboardUrl}.`);
    }
    // A joined cluster that was started anew is another one, at the same address.
    return { version, nodes: await client.nodes() };
  } catch (error) {
    if (error instanceof RayError) {
      return error;
    }
    throw error;
  }
}

/** A Ray that does not tell one thing is still heard, and tells the rest. */
async function activityOf(client: RayClient, attention: Attention): Promise<ClusterActivity> {
  const isTreeSeen = attention === 'close' || attention === 'aside';
  const [usage, memory, jobs] = await Promise.all([
    unlessRefused(client.usage()),
    isTreeSeen ? unlessRefused(client.memory()) : undefined,
    isTreeSeen ? unlessRefused(client.jobs()) : undefined,
  ]);
  return { usage, memory, jobs };
}

async function unlessRefused<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof RayError) {
      return undefined;
    }
    throw error;
  }
}

import { readFile } from 'node:fs/promises';
import { createEmitter, type Disposable, type Event } from '../common/emitter';
import { messageOf, UserError } from '../common/userError';
import { createRayClient, type RayClient, type RayNode } from '../ray/client';
import { RayError } from '../ray/rayError';
import type { JoinedCluster } from './clusterAccess';
import { setKept } from './clusterFolder';
import { type ClusterRecord, loadClusterRecord } from './clusterRecord';
import { findStartedCluster } from './findCluster';
import type { Attention } from './pacing';
import { reachCluster } from './reachCluster';
import { type ClusterResources, RAYS_CHOICE } from './resources';
import { startCluster } from './startCluster';
import { removeCluster, stopCluster } from './stopCluster';
import { type ClusterActivity, type ClusterWatch, type Sighting, type Silence, watchCluster } from './watch';
import { ensureWatcher } from './watcherProcess';
import { markWindow } from './windows';

export type ClusterState =
  | {
      readonly kind: 'none';
      /** Why there is none, when it is not because nobody wanted one. */
      readonly message?: string;
    }
  | { readonly kind: 'starting'; readonly stage: string }
  | {
      readonly kind: 'running';
      readonly origin: 'started' | 'joined';
      readonly dashboardUrl: string;
      /** `IP:port` for `ray.init` and for nodes that join; not known of a cluster that was joined. */
      readonly gcsAddress?: string;
      readonly sessionName: string;
      readonly rayVersion: string;
      readonly nodes: readonly RayNode[];
      /** Only while it does not answer. It may well run. */
      readonly silence?: Silence;
    }
  /** Still answers while its jobs are stopped. */
  | { readonly kind: 'stopping'; readonly sessionName: string };

/** The one cluster that this window works with. */
export interface ClusterService extends Disposable {
  state(): ClusterState;
  readonly onDidChange: Event<ClusterState>;
  /** What goes on on the cluster while it runs, as it was at the last look that was answered. */
  activity(): ClusterActivity;
  /** Somebody has looked at the cluster, and its activity may be another. */
  readonly onDidLook: Event<void>;
  /** How closely somebody looks at the cluster decides how often it is asked: not at all before this is called. */
  attend(attention: Attention): void;
  /** The client of the cluster while it runs or is being stopped. Belongs to the service, which closes it. */
  client(): RayClient | undefined;
  /** The token that the cluster asks for, when it asks for one. */
  token(): string | undefined;
  /** The file with the token of the cluster that was started here: what Ray calls RAY_AUTH_TOKEN_PATH. */
  tokenFile(): string | undefined;
  /** The interpreter that the cluster was started with here, in which its jobs run. */
  python(): string | undefined;
  /**
   * Starts a cluster on this machine; nothing when one is there. A second call while the first goes on waits for it.
   * When a signal is aborted, what was started is ended.
   */
  start(options?: { readonly signal?: AbortSignal | undefined }): Promise<void>;
  /** Stops the cluster that was started here, also while it starts. A joined cluster is left. */
  stop(): Promise<void>;
  /** Joins a cluster that others started. When that fails, what there was stays. */
  join(joined: JoinedCluster): Promise<void>;
  leave(): Promise<void>;
  /** Finds again, after a reload, the cluster that was started here, or else the one that was joined. */
  restore(): Promise<void>;
  /** Looks at once whether the cluster still answers, or, when there is none, whether another window has started one. */
  refresh(): Promise<void>;
  /** Tells the cluster that was started here whether it is to be kept, after that has changed. */
  updateKept(): Promise<void>;
}

export interface ClusterServiceOptions {
  /** The same for all windows of a user. */
  readonly storageFolder: string;
  /** The interpreter for a new cluster, by absolute path. Throws UserError when there is none that will do. */
  readonly resolvePython: () => Promise<string>;
  /** The bundled program that watches a started cluster: clusterWatcher.ts. */
  readonly watcher: string;
  /** What a new cluster may use of this machine; what Ray chooses, when not given. */
  readonly resources?: () => ClusterResources;
  /** Whether a started cluster is kept when no window is left and nobody uses it. Not, when not given. */
  readonly isKept?: () => boolean;
  readonly joined: JoinedClusterStore;
  /** Certificates in PEM form that are believed besides those that Node.js brings. */
  readonly readCa?: () => Promise<string | undefined>;
}

/** Keeps the cluster that was joined. What is secret goes where only the user can read it. */
export interface JoinedClusterStore {
  load(): Promise<JoinedCluster | undefined>;
  save(joined: JoinedCluster): Promise<void>;
  forget(): Promise<void>;
}

interface Connection {
  readonly url: string;
  readonly token: string | undefined;
  readonly client: RayClient;
  /** Of a cluster that we started. */
  readonly record?: ClusterRecord;
}

/** Makes the service. Nothing is looked at before `restore`, `start` or `join`. */
export function createClusterService(options: ClusterServiceOptions): ClusterService {
  const { storageFolder, joined } = options;
  const changed = createEmitter<ClusterState>();
  const looked = createEmitter<void>();
  let state: ClusterState = { kind: 'none' };
  let connection: Connection | undefined;
  let starting: { readonly cancel: AbortController; readonly done: Promise<void> } | undefined;
  let watch: ClusterWatch | undefined;
  let attention: Attention = 'none';
  let activity: ClusterActivity = {};
  let lastTurn: Promise<unknown> = Promise.resolve();

  /** One change at a time: each sees what the one before has left. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = lastTurn.then(work);
    lastTurn = turn.catch(() => undefined);
    return turn;
  }

  function set(next: ClusterState): void {
    if (JSON.stringify(next) !== JSON.stringify(state)) {
      state = next;
      changed.fire(state);
    }
  }

  function setRunning({ url, record }: Connection, { version, nodes }: Sighting): void {
    set({
      kind: 'running',
      origin: record ? 'started' : 'joined',
      dashboardUrl: url,
      ...(record && { gcsAddress: record.gcsAddress }),
      sessionName: version.sessionName,
      rayVersion: version.rayVersion,
      nodes,
    });
  }

  function connect(next: Connection, sighting: Sighting): void {
    connection = next;
    activity = {};
    setRunning(next, sighting);
    watch = watchCluster(next, {
      onSeen(seen, seenActivity) {
        // What is not asked for at a glance stays as it was.
        activity = {
          usage: seenActivity.usage,
          memory: seenActivity.memory ?? activity.memory,
          jobs: seenActivity.jobs ?? activity.jobs,
        };
        setRunning(next, seen);
        looked.fire();
      },
      onSilence(silence) {
        if (state.kind === 'running') {
          set({ ...state, silence });
        }
      },
      onGone: (message) => inTurn(() => giveUp(next, message)),
    });
    watch.attend(attention);
  }

  async function disconnect(next: ClusterState): Promise<void> {
    const client = connection?.client;
    connection = undefined;
    watch?.dispose();
    set(next);
    await client?.close();
  }

  async function connectToStarted(record: ClusterRecord): Promise<void> {
    await markWindow(record.folder);
    // Looked for once more: what ends unused clusters may have decided just before this window was marked.
    if ((await loadClusterRecord(storageFolder))?.folder !== record.folder) {
      throw new UserError('The Ray cluster was ended a moment ago, because nobody used it. Start it again.', [
        { title: 'Start Ray', command: 'shardboard.startCluster' },
      ]);
    }
    await setKept(record.folder, options.isKept?.() ?? false);
    await ensureWatcher(options.watcher, storageFolder, record.folder);
    const token = await readFile(record.tokenFile, 'utf8');
    const client = createRayClient({ url: record.dashboardUrl, token });
    try {
      connect({ url: record.dashboardUrl, token, client, record }, await firstSight(client, record));
    } catch (error) {
      await client.close();
      throw error;
    }
  }

  /** What a cluster that is known by its processes tells, if it does; while it does not, there is a silence to be told. */
  async function firstSight(client: RayClient, record: ClusterRecord): Promise<Sighting> {
    try {
      return { version: await client.version(), nodes: await client.nodes() };
    } catch (error) {
      if (error instanceof RayError && error.kind === 'unreachable') {
        return { version: { sessionName: record.sessionName, rayVersion: record.rayVersion }, nodes: [] };
      }
      throw error;
    }
  }

  async function connectToJoined(cluster: JoinedCluster): Promise<void> {
    const { version, nodes, ...reached } = await reachCluster(cluster, await options.readCa?.());
    connect(reached, { version, nodes });
  }

  /** Runs what leads to a cluster; without success there is none, and the state says why. */
  async function orNone(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      set({ kind: 'none', ...(error instanceof UserError && { message: error.message }) });
      throw error;
    }
  }

  async function startHere(signal: AbortSignal): Promise<void> {
    if (connection) {
      return;
    }
    const onStage = (stage: string): void => set({ kind: 'starting', stage });
    await orNone(async () => {
      signal.throwIfAborted();
      onStage('choosing an interpreter');
      const python = await options.resolvePython();
      const resources = options.resources?.() ?? RAYS_CHOICE;
      await connectToStarted(
        await startCluster({ python, storageFolder, watcher: options.watcher, resources, onStage, signal }),
      );
    });
  }

  async function stopHere(): Promise<void> {
    const { record } = connection ?? {};
    if (!connection || !record) {
      return;
    }
    watch?.dispose();
    set({ kind: 'stopping', sessionName: record.sessionName });
    try {
      await stopCluster(record, { storageFolder, onStage: () => undefined });
    } catch (error) {
      await disconnect({ kind: 'none', message: messageOf(error) });
      throw error;
    }
    await disconnect({ kind: 'none' });
  }

  /** Finds a started cluster; the joined one, too, when asked to. */
  async function findAgain(alsoJoined: boolean): Promise<void> {
    if (connection) {
      return;
    }
    await orNone(async () => {
      const record = await findStartedCluster(storageFolder);
      if (record) {
        await connectToStarted(record);
        return;
      }
      const kept = alsoJoined ? await joined.load() : undefined;
      if (kept) {
        await connectToJoined(kept);
      }
    });
  }

  async function giveUp(current: Connection, message: string): Promise<void> {
    if (connection !== current) {
      return;
    }
    await disconnect({ kind: 'none', message });
    if (current.record) {
      await removeCluster(storageFolder, current.record, 0);
    }
  }

  return {
    state: () => state,
    onDidChange: changed.event,
    activity: () => activity,
    onDidLook: looked.event,
    attend(next) {
      attention = next;
      watch?.attend(next);
    },
    client: () => connection?.client,
    token: () => connection?.token,
    tokenFile: () => connection?.record?.tokenFile,
    python: () => connection?.record?.python,
    async start({ signal } = {}) {
      signal?.throwIfAborted();
      if (!starting) {
        const cancel = new AbortController();
        const done = inTurn(() => startHere(cancel.signal)).finally(() => {
          starting = undefined;
        });
        starting = { cancel, done };
      }
      const { cancel, done } = starting;
      const abort = (): void => cancel.abort();
      signal?.addEventListener('abort', abort, { once: true });
      try {
        await done;
      } finally {
        signal?.removeEventListener('abort', abort);
      }
    },
    async stop() {
      starting?.cancel.abort();
      await inTurn(async () => {
        if (connection && !connection.record) {
          await joined.forget();
          await disconnect({ kind: 'none' });
        }
        await stopHere();
      });
    },
    join: (cluster) =>
      inTurn(async () => {
        if (connection?.record) {
          throw new UserError('The cluster that Shardboard started is running. Stop it before you join another one.', [
            { title: 'Stop Ray cluster', command: 'shardboard.stopCluster' },
          ]);
        }
        const before = connection;
        const { version, nodes, ...reached } = await reachCluster(cluster, await options.readCa?.());
        watch?.dispose();
        await before?.client.close();
        connect(reached, { version, nodes });
        await joined.save(cluster);
      }),
    leave: () =>
      inTurn(async () => {
        await joined.forget();
        if (connection && !connection.record) {
          await disconnect({ kind: 'none' });
        }
      }),
    restore: () => inTurn(() => findAgain(true)),
    // A look is not in turn, so that a cluster that does not answer keeps nobody from stopping it.
    refresh: async () => await (connection ? watch?.look() : inTurn(() => findAgain(false))),
    updateKept: () =>
      inTurn(async () => {
        if (connection?.record) {
          await setKept(connection.record.folder, options.isKept?.() ?? false);
        }
      }),
    dispose() {
      starting?.cancel.abort();
      watch?.dispose();
      changed.dispose();
      looked.dispose();
      connection?.client.close().catch(() => undefined);
    },
  };
}

import { setTimeout as wait } from 'node:timers/promises';
import { createEmitter, type Disposable, type Event } from '../common/emitter';
import { messageOf, UserError } from '../common/userError';
import type { RunSnapshot } from '../protocol/runSnapshot';
import { jobHasEnded, type RayClient, type RayJob } from '../ray/client';
import { hideKeys } from '../ray/hideKeys';
import { RayError } from '../ray/rayError';
import { followRun } from './followRun';
import { DRIVER_MODULE } from './jobPackage';
import { apply, initialRunState, type RunEvent, type RunFacts, type RunState, snapshotOf } from './runState';
import { countShards, readStockResult, type StockArguments, stockArguments } from './stockLauncher';

/** Between two looks at the tasks of a run that somebody sees, in ms. */
const LOOK_EVERY_MS = 2000;

const UNNAMED_MODEL = 'model not named';

/** The cluster that this window works with. */
export interface OtherRunsCluster {
  readonly name: string;
  readonly sessionName: string;
  readonly client: RayClient;
}

/** The runs on the cluster that were not submitted in this window: of other windows, of colleagues, of a terminal. */
export interface OtherRuns extends Disposable {
  /** Ids of those that were seen, in the order in which they were. */
  all(): readonly string[];
  snapshot(id: string): RunSnapshot | undefined;
  readonly onDidChange: Event<string>;
  /** Takes what Ray tells of the jobs of the cluster, whenever somebody has asked it. */
  see(jobs: readonly RayJob[]): void;
  /** Follows a run closely, until the answer is disposed. One that was not seen yet is asked for. */
  look(id: string): Disposable;
  /** Stops a run's job; resolves when Ray has taken the order. */
  cancel(id: string): Promise<void>;
  /** The driver's log as a person reads it, as far as somebody has followed it. */
  log(id: string): string;
}

export interface OtherRunsOptions {
  readonly cluster: () => OtherRunsCluster | undefined;
  /** Whether a run was submitted in this window. */
  readonly isOwn: (id: string) => boolean;
  readonly logError: (message: string) => void;
}

interface OtherRun {
  readonly id: string;
  readonly sessionName: string;
  readonly state: RunState;
  /** Of a run of the stock launcher. */
  readonly launched: StockArguments | undefined;
  picture: RunSnapshot | undefined;
  log: () => string;
  /** How many look at it. */
  looks: number;
}

/** Keeps nothing: what Ray forgets is forgotten. */
export function createOtherRuns(options: OtherRunsOptions): OtherRuns {
  const runs = new Map<string, OtherRun>();
  const changed = createEmitter<string>((error) => options.logError(messageOf(error)));
  const open = new Set<AbortController>();

  function take(run: OtherRun, events: readonly RunEvent[]): void {
    for (const event of events) {
      apply(run.state, event);
    }
    run.picture = undefined;
    changed.fire(run.id);
  }

  function learn(job: RayJob, cluster: OtherRunsCluster): OtherRun | undefined {
    const id = job.submissionId;
    if (id === undefined || options.isOwn(id)) {
      return undefined;
    }
    const launched = stockArguments(job.entrypoint);
    const facts = factsOf(id, job, launched, cluster.name);
    if (!runs.has(id) && facts) {
      const state = initialRunState(facts);
      runs.set(id, {
        id,
        sessionName: cluster.sessionName,
        state,
        launched,
        picture: undefined,
        log: () => '',
        looks: 0,
      });
      changed.fire(id);
    }
    return runs.get(id);
  }

  async function follow(id: string, signal: AbortSignal): Promise<void> {
    const run = await find(id, signal);
    if (!run) {
      return;
    }
    run.looks += 1;
    try {
      await (run.launched ? followTasks(run, run.launched, signal) : followDriver(run, signal));
    } finally {
      run.looks -= 1;
    }
  }

  /** After a reload of the window its page may be there before the cluster is. */
  async function find(id: string, signal: AbortSignal): Promise<OtherRun | undefined> {
    while (!runs.has(id)) {
      const cluster = options.cluster();
      if (cluster) {
        try {
          return learn(await cluster.client.job(id, { signal }), cluster);
        } catch (error) {
          if (!(error instanceof RayError) || error.kind === 'not_found') {
            throw error;
          }
        }
      }
      await wait(LOOK_EVERY_MS, undefined, { signal });
    }
    return runs.get(id);
  }

  function clientOf({ sessionName }: OtherRun): RayClient | undefined {
    const cluster = options.cluster();
    return cluster?.sessionName === sessionName ? cluster.client : undefined;
  }

  async function followDriver(run: OtherRun, signal: AbortSignal): Promise<void> {
    const follower = followRun({
      submissionId: run.id,
      sessionName: run.sessionName,
      client: () => clientOf(run),
      fate: () => 'left',
      heardAt: Date.now(),
      onEvents: (events) => take(run, events),
      onFault: (fault) => options.logError(fault.message.slice(0, 500)),
      signal,
    });
    run.log = follower.log;
    await follower.done;
  }

  async function followTasks(run: OtherRun, launched: StockArguments, signal: AbortSignal): Promise<void> {
    let heardAt = Date.now();
    for (;;) {
      const client = clientOf(run);
      try {
        if (client && (await lookAtTasks(run, launched, client, signal))) {
          return;
        }
        if (client) {
          heardAt = Date.now();
        } else {
          take(run, [{ type: 'unheard', since: heardAt, fate: 'left' }]);
        }
      } catch (error) {
        if (signal.aborted || !(error instanceof RayError)) {
          throw error;
        }
        take(run, [{ type: 'unheard', since: heardAt, fate: 'silent', reason: error.message }]);
      }
      await wait(LOOK_EVERY_MS, undefined, { signal });
    }
  }

  /** True when there is no more to come. */
  async function lookAtTasks(
    run: OtherRun,
    launched: StockArguments,
    client: RayClient,
    signal: AbortSignal,
  ): Promise<boolean> {
    const job = await client.job(run.id, { signal });
    const events: RunEvent[] = [];
    if (job.jobId !== undefined) {
      events.push({ type: 'tasks', counts: countShards(await client.tasks(job.jobId, { signal }), launched.shards) });
    }
    if (job.status === 'SUCCEEDED') {
      const result = await readStockResult(launched, job.startedAt ?? 0);
      events.push(...(result ? [{ type: 'stock_result', result } as const] : []));
    }
    take(run, [...events, jobEventOf(job)]);
    return jobHasEnded(job);
  }

  return {
    all: () => [...runs.keys()],
    snapshot(id) {
      const run = runs.get(id);
      if (run) {
        run.picture ??= snapshotOf(run.state);
      }
      return run?.picture;
    },
    onDidChange: changed.event,
    see(jobs) {
      const cluster = options.cluster();
      if (!cluster) {
        return;
      }
      const seen = new Set(jobs.map(({ submissionId }) => submissionId));
      for (const run of [...runs.values()].filter(({ id, looks }) => looks === 0 && !seen.has(id))) {
        runs.delete(run.id);
      }
      for (const job of jobs) {
        const run = learn(job, cluster);
        // What its end means, only its log or its bundle tells; they are read when somebody looks.
        if (run && run.looks === 0 && !jobHasEnded(job)) {
          apply(run.state, jobEventOf(job));
          run.picture = undefined;
        }
      }
    },
    look(id) {
      const close = new AbortController();
      open.add(close);
      follow(id, close.signal)
        .catch((error) => {
          if (!close.signal.aborted) {
            options.logError(`Following the run ${id} ended: ${messageOf(error)}`);
          }
        })
        .finally(() => open.delete(close));
      return { dispose: () => close.abort() };
    },
    async cancel(id) {
      const run = runs.get(id);
      const client = run && clientOf(run);
      if (!client) {
        throw new UserError('The cluster that runs this benchmark does not answer, so the run cannot be stopped now.');
      }
      await client.stopJob(id);
    },
    log: (id) => hideKeys(runs.get(id)?.log() ?? ''),
    dispose() {
      for (const close of open) {
        close.abort();
      }
      changed.dispose();
    },
  };
}

function jobEventOf({ status, message, endedAt }: RayJob): RunEvent {
  return { type: 'job', status, message, endedAt };
}

/** What the job itself tells of a run; undefined when it is none. */
function factsOf(
  id: string,
  { entrypoint, metadata, startedAt }: RayJob,
  launched: StockArguments | undefined,
  clusterName: string,
): RunFacts | undefined {
  const common = { id, clusterName, submittedAt: startedAt ?? Date.now() };
  if (launched) {
    return { ...common, ...launched, modelId: launched.modelId ?? UNNAMED_MODEL, origin: 'stock', submittedBy: null };
  }
  if (!entrypoint.includes(DRIVER_MODULE)) {
    return undefined;
  }
  return {
    ...common,
    benchmark: metadata.benchmark ?? 'unknown benchmark',
    modelId: metadata.model ?? UNNAMED_MODEL,
    shards: Number(metadata.shards) || 0,
    // The driver tells these as soon as it has loaded the benchmark.
    repeats: 1,
    outputFolder: '',
    origin: 'window',
    submittedBy: metadata.user ?? null,
  };
}

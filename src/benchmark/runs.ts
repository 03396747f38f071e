import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { basename, dirname, join } from 'node:path';
import * as v from 'valibot';
import { createEmitter, type Disposable, type Event } from '../common/emitter';
import { writeFileAtomic } from '../common/files';
import { shellWord } from '../common/shellWord';
import { messageOf, UserError } from '../common/userError';
import { type Judge, type KeySource, runRequest } from '../protocol/runRequest';
import { goesOn, hasEnded, type RunSnapshot } from '../protocol/runSnapshot';
import { REQUIREMENTS } from '../python/supportedVersions';
import type { RayClient } from '../ray/client';
import { fetchResults } from './fetchResults';
import { followRun } from './followRun';
import { gitStateOf } from './gitState';
import { buildJobPackage, DRIVER_MODULE, type OwnBenchmark, packagedBenchmarkName } from './jobPackage';
import { loadRunRecords, type RunRecord, saveRunRecord } from './runRecord';
import { apply, initialRunState, type RunEvent, type RunState, snapshotOf } from './runState';

/** A run going on is saved at most this often, in ms: enough to show after a crash what was last seen. */
const SAVE_EVERY_MS = 5000;

/** Of a line that cannot be read, in characters: what is wrong with each of its hundred answers helps nobody. */
const LONGEST_FAULT = 500;

/** How long the end of cancelled runs is waited for before their cluster is stopped, in ms. Ray takes about three seconds. */
const CANCEL_LIMIT_MS = 15_000;

/** What a run may need a key for. */
const KEYS = ['model', 'judge', 'dataset'] as const;

/** The cluster a run is sent to. */
export interface RunCluster {
  readonly name: string;
  readonly sessionName: string;
  /** Whether Shardboard started it: then it is gone when it is not there, and else only left. */
  readonly startedHere: boolean;
  readonly client: RayClient;
  /** Whether the driver writes to this machine's disks; otherwise the results are fetched through the dashboard. */
  readonly isHere?: boolean;
  /** The Python that it runs Ray with, by absolute path; what it calls `python` when it does not tell. */
  readonly python?: string | undefined;
}

/** What a person chose; paths and keys are worked out from it. What is left out of the request has its default. */
export type NewRun = Readonly<
  Omit<
    v.InferInput<typeof runRequest>,
    'version' | 'benchmark' | 'key' | 'judge' | 'datasetKey' | 'outputPlace' | 'outputFolder' | 'gitCommit' | 'gitDirty'
  >
> & {
  /** The evaluator's own name, or a file of the user's. */
  readonly benchmark: string | OwnBenchmark;
  readonly key: NewRunKey;
  readonly judge?: (Readonly<Omit<Judge, 'key'>> & { readonly key: NewRunKey }) | null;
  readonly datasetKey?: NewRunKey;
  /** Absolute folder under which the run gets one of its own. */
  readonly resultsFolder: string;
  /** The folder of an earlier run, which this one takes up again: what has an answer there is not asked again. */
  readonly outputFolder?: string;
  /** Whether Ray is to install the evaluator for this run, because the cluster has none. */
  readonly bringsEvaluator?: boolean;
};

export type NewRunKey =
  | { readonly source: 'none' }
  /** The key itself. It is handed over in a file that only the user can read, so only to a cluster on this machine. */
  | { readonly source: 'value'; readonly value: string }
  | { readonly source: 'environment'; readonly name: string };

export interface Runs extends Disposable {
  /** Ids of all runs, the oldest first. */
  all(): readonly string[];
  /** The run that was submitted last. */
  latest(): string | undefined;
  snapshot(id: string): RunSnapshot | undefined;
  /** What was asked for, and the user's own benchmark file if it is one: what a run like it is made from. */
  requestOf(id: string): Pick<RunRecord, 'request' | 'own'> | undefined;
  /** Fires with a run's id whenever its snapshot may have changed. */
  readonly onDidChange: Event<string>;
  /** Ids of the runs that were sent to the cluster with this session name, the oldest first. */
  on(sessionName: string): readonly string[];
  /** Ids of the runs that go on, as far as this window can tell, the oldest first. */
  active(): readonly string[];
  /**
   * Sends a run to a cluster and follows it.
   *
   * @returns the run's id, as soon as it can be watched. What goes wrong later is in its snapshot.
   */
  submit(run: NewRun, cluster: RunCluster): Promise<string>;
  /** Stops a run's job; resolves when Ray has taken the order. */
  cancel(id: string): Promise<void>;
  /** Stops the runs on a cluster that is about to be stopped, and waits until their end is heard, for seconds at most. */
  cancelOn(sessionName: string): Promise<void>;
  /** The driver's log as a person reads it. */
  log(id: string): string;
  /** Reads what is kept and follows what has not ended. */
  restore(): Promise<void>;
  /** Saves what was heard since the last save; resolves when everything is on disk. */
  flush(): Promise<void>;
}

export interface RunsOptions {
  /** Folder for the records of the runs. */
  readonly storageFolder: string;
  /** Folder that holds the driver's Python package. */
  readonly driverFolder: string;
  /** The client of the cluster with this session name, while it is up. */
  readonly clientFor: (sessionName: string) => RayClient | undefined;
  /** Whether the clusters of earlier windows have been looked for: before that, one that is not there may yet be found. */
  readonly isClusterKnown: () => boolean;
  readonly logError: (message: string) => void;
}

interface Followed {
  readonly record: RunRecord;
  readonly state: RunState;
  /** The log that was kept, or the one that is followed. */
  log: () => string;
  /** The run as it was drawn last; undefined when it has changed since. Several views draw it. */
  picture: RunSnapshot | undefined;
  savedAt: number;
  /** The save under way: the next waits for it, or an older state could be the last to reach the disk. */
  saving: Promise<void>;
}

/** Keeps the runs: submits, follows, remembers. */
export function createRuns(options: RunsOptions): Runs {
  const runs = new Map<string, Followed>();
  const changed = createEmitter<string>((error) => options.logError(messageOf(error)));
  const ending = new AbortController();
  const keyFolder = join(options.storageFolder, 'keys');

  const logUnsaved = (error: unknown): void => options.logError(`A run could not be saved: ${messageOf(error)}`);

  function add(record: RunRecord): Followed {
    const run: Followed = {
      record,
      state: initialRunState({
        id: record.id,
        benchmark: record.benchmark,
        modelId: record.request.modelId,
        clusterName: record.cluster.name,
        shards: record.request.shards,
        repeats: record.request.repeats,
        submittedAt: record.submittedAt,
        outputFolder: record.localFolder ?? record.request.outputFolder,
      }),
      log: () => record.log ?? '',
      picture: undefined,
      savedAt: 0,
      saving: Promise.resolve(),
    };
    runs.set(record.id, run);
    changed.fire(record.id);
    return run;
  }

  function take(run: Followed, events: readonly RunEvent[]): void {
    for (const event of events) {
      apply(run.state, event);
    }
    run.picture = undefined;
    changed.fire(run.record.id);
    const now = Date.now();
    if (!hasEnded(run.state.status) && now - run.savedAt > SAVE_EVERY_MS) {
      run.savedAt = now;
      save(run).catch(logUnsaved);
    }
  }

  function save(run: Followed): Promise<void> {
    const write = (): Promise<void> =>
      saveRunRecord(options.storageFolder, {
        ...run.record,
        snapshot: drawn(run),
        // While it goes on Ray has it, and it grows.
        log: goesOn(run.state.status) ? null : run.log(),
      });
    run.saving = run.saving.then(write, write);
    return run.saving;
  }

  /** A key that no run needs any more may have been left by a crash. */
  async function sweepKeys(): Promise<void> {
    const files = await readdir(keyFolder).catch(() => []);
    for (const file of files) {
      const run = runs.get(file.replace(/\.\w+$/, ''));
      if (!run || isOver(run)) {
        await rm(join(keyFolder, file), { force: true });
      }
    }
  }

  async function finish(run: Followed): Promise<void> {
    await Promise.all(KEYS.map((which) => rm(keyFile(run.record.id, which), { force: true })));
    await save(run);
  }

  async function follow(run: Followed): Promise<void> {
    const { sessionName, startedHere } = run.record.cluster;
    const kept = run.record.snapshot;
    const follower = followRun({
      submissionId: run.record.id,
      sessionName,
      client: () => options.clientFor(sessionName),
      fate: () => (!options.isClusterKnown() ? 'silent' : startedHere ? 'gone' : 'left'),
      heardAt: kept?.lastHeardAt ?? kept?.lastAnswerAt ?? run.record.submittedAt,
      onEvents: (events) => take(run, events),
      onFault: (fault) => options.logError(fault.message.slice(0, LONGEST_FAULT)),
      signal: ending.signal,
    });
    run.log = () => follower.log() || (run.record.log ?? '');
    await follower.done;
    if (!ending.signal.aborted) {
      await fetchWhatIsElsewhere(run);
      await finish(run);
    }
  }

  /** Brings the results of a run on another machine here. */
  async function fetchWhatIsElsewhere(run: Followed): Promise<void> {
    const folder = run.record.localFolder;
    const results = run.state.files;
    const client = options.clientFor(run.record.cluster.sessionName);
    if (folder === null || results === null || !client) {
      return;
    }
    try {
      await fetchResults(client, results, folder, ending.signal);
      const bundle = results.files.find(({ name }) => /^(partial-)?eval-.*\.json$/.test(name));
      take(run, [{ type: 'fetched', folder, bundle: bundle ? join(folder, bundle.name) : null }]);
    } catch (error) {
      options.logError(`The results of ${run.record.id} were not fetched: ${messageOf(error)}`);
      take(run, [{ type: 'not_fetched', message: `The results could not be brought here. ${messageOf(error)}` }]);
    }
  }

  function followInBackground(run: Followed): void {
    follow(run).catch((error) => {
      options.logError(`Following the run ${run.record.id} ended: ${messageOf(error)}`);
      take(run, [{ type: 'unheard', since: Date.now(), fate: 'silent' }]);
    });
  }

  function keyFile(id: string, which: (typeof KEYS)[number]): string {
    return join(keyFolder, `${id}.${which}`);
  }

  async function handOverKey(id: string, which: (typeof KEYS)[number], key: NewRunKey): Promise<KeySource> {
    if (key.source !== 'value') {
      return key;
    }
    await mkdir(keyFolder, { recursive: true, mode: 0o700 });
    const path = keyFile(id, which);
    await writeFileAtomic(path, key.value, 0o600);
    return { source: 'file', path };
  }

  return {
    all: () => [...runs.keys()],
    latest: () => [...runs.keys()].at(-1),
    snapshot(id) {
      const run = runs.get(id);
      return run && drawn(run);
    },
    requestOf: (id) => runs.get(id)?.record,
    onDidChange: changed.event,
    on: (sessionName) => [...runs.values()].filter((run) => isOn(run, sessionName)).map((run) => run.record.id),
    active: () => [...runs.values()].filter(isGoingOn).map((run) => run.record.id),
    async submit(chosen, cluster) {
      const id = newRunId();
      const own = typeof chosen.benchmark === 'string' ? undefined : chosen.benchmark;
      const {
        benchmark,
        key,
        judge,
        datasetKey = { source: 'none' },
        resultsFolder,
        outputFolder: earlierFolder,
        bringsEvaluator,
        ...asked
      } = chosen;
      const git = own && (await gitStateOf(dirname(own.file)));
      const folder = earlierFolder ?? join(resultsFolder, id);
      const isHere = cluster.isHere ?? true;
      const request = v.parse(runRequest, {
        ...asked,
        version: 2,
        benchmark: typeof benchmark === 'string' ? benchmark : packagedBenchmarkName(benchmark),
        key: await handOverKey(id, 'model', key),
        judge: judge ? { ...judge, key: await handOverKey(id, 'judge', judge.key) } : null,
        datasetKey: await handOverKey(id, 'dataset', datasetKey),
        outputPlace: isHere ? 'folder' : 'session',
        // Of the same name wherever it is, so that the run can be taken up again.
        outputFolder: isHere ? folder : basename(folder),
        gitCommit: git?.commit ?? null,
        gitDirty: git?.isDirty ?? null,
      });
      const record: RunRecord = {
        version: 1,
        id,
        benchmark: own?.name ?? request.benchmark,
        request,
        own: own ?? null,
        localFolder: isHere ? null : folder,
        cluster: { name: cluster.name, sessionName: cluster.sessionName, startedHere: cluster.startedHere },
        submittedAt: Date.now(),
        snapshot: null,
        log: null,
      };
      const run = add(record);
      try {
        // Before Ray hears of it: a job that runs and is not remembered would be lost by a crash at this moment.
        await save(run);
        const packages = bringsEvaluator ? [REQUIREMENTS.evaluator] : [];
        // What was fetched of an earlier run goes along: its cluster may be gone, and what was asked there is paid for.
        const earlier = !isHere && earlierFolder !== undefined ? join(earlierFolder, 'answers') : undefined;
        await send(cluster, record, { driverFolder: options.driverFolder, own, earlier, packages });
      } catch (error) {
        take(run, [{ type: 'not_submitted', message: messageOf(error), at: Date.now() }]);
        // The reason is what the person must hear, also when a full disk keeps it from being saved.
        await finish(run).catch(logUnsaved);
        throw error;
      }
      followInBackground(run);
      return id;
    },
    async cancel(id) {
      const run = runs.get(id);
      if (!run || isOver(run)) {
        return;
      }
      const client = options.clientFor(run.record.cluster.sessionName);
      if (!client) {
        throw new UserError(
          'The cluster that runs this benchmark does not answer, so the run cannot be cancelled now.',
        );
      }
      await client.stopJob(id);
    },
    async cancelOn(sessionName) {
      const client = options.clientFor(sessionName);
      const going = [...runs.values()].filter((run) => isOn(run, sessionName) && isGoingOn(run));
      if (!client || going.length === 0) {
        return;
      }
      const tooLate = AbortSignal.timeout(CANCEL_LIMIT_MS);
      await Promise.allSettled(going.map((run) => client.stopJob(run.record.id, { signal: tooLate })));
      await new Promise<void>((resolve) => {
        const subscription = changed.event(() => settleWhenEnded());
        const settle = (): void => {
          subscription.dispose();
          resolve();
        };
        const settleWhenEnded = (): void => {
          if (!going.some(isGoingOn)) {
            settle();
          }
        };
        tooLate.addEventListener('abort', settle, { once: true });
        settleWhenEnded();
      });
    },
    log: (id) => runs.get(id)?.log() ?? '',
    async restore() {
      const records = await loadRunRecords(options.storageFolder, (file, reason) =>
        options.logError(`The record of a run, ${file}, cannot be read: ${reason}`),
      );
      for (const record of records.filter((kept) => !runs.has(kept.id))) {
        const run = add(record);
        if (!isOver(run)) {
          followInBackground(run);
        }
      }
      await sweepKeys();
    },
    async flush() {
      // A run that ended in an earlier window was saved then. One that cannot be saved must not keep the others from it.
      await Promise.all([...runs.values()].map((run) => (isHeardOf(run) ? save(run) : run.saving).catch(logUnsaved)));
    },
    dispose() {
      ending.abort();
      changed.dispose();
    },
  };
}

/** Whether this window has heard of the run itself, and not only read what an earlier one kept. */
function isHeardOf(run: Followed): boolean {
  return run.state.status !== 'submitting' && !(run.state.status === 'lost' && run.state.problems === 0);
}

/** The run as it is shown and kept: until its first word after a reload, what was last seen beats an empty page. */
function drawn(run: Followed): RunSnapshot {
  run.picture ??= draw(run);
  return run.picture;
}

function draw(run: Followed): RunSnapshot {
  const kept = run.record.snapshot;
  if (isHeardOf(run) || kept === null) {
    return snapshotOf(run.state);
  }
  const { status, message, lastHeardAt } = run.state;
  return status === 'lost' ? { ...kept, status, message, lastHeardAt } : kept;
}

function isOn(run: Followed, sessionName: string): boolean {
  return run.record.cluster.sessionName === sessionName;
}

/** Whether Ray has still to do with it, as far as is known. */
function isGoingOn(run: Followed): boolean {
  return goesOn(drawn(run).status);
}

function isOver(run: Followed): boolean {
  return hasEnded(run.state.status) || (run.record.snapshot !== null && hasEnded(run.record.snapshot.status));
}

/** Short, sortable by time, and made of characters that Ray takes as a submission id. */
function newRunId(): string {
  const time = new Date().toISOString().replace(/[-:]/g, '').slice(0, 15);
  return `shardboard-${time}-${randomBytes(3).toString('hex')}`;
}

async function send(
  { client, python }: RunCluster,
  record: RunRecord,
  options: {
    driverFolder: string;
    own: OwnBenchmark | undefined;
    earlier: string | undefined;
    packages: readonly string[];
  },
): Promise<void> {
  const { driverFolder, own, earlier, packages } = options;
  const request = JSON.stringify(record.request);
  const workingDir = await client.uploadPackage(await buildJobPackage({ driverFolder, request, own, earlier }));
  await client.submitJob({
    submissionId: record.id,
    // What Ray installs for a job is in an environment of its own, in which `python` is the right one.
    entrypoint: `${python === undefined || packages.length > 0 ? 'python' : shellWord(python)} -u -m ${DRIVER_MODULE} request.json`,
    runtimeEnv: {
      workingDir,
      envVars: {
        // Ray would fold similar lines of different shards into one, and colour them.
        RAY_DEDUP_LOGS: '0',
        RAY_COLOR_PREFIX: '0',
        // A shell that switches bytecode off costs each worker seconds of compiling.
        PYTHONDONTWRITEBYTECODE: '',
      },
      packages,
    },
    metadata: {
      benchmark: record.benchmark,
      model: record.request.modelId,
      shards: String(record.request.shards),
      ...userName(),
    },
  });
}

/** So that whoever else works with the cluster knows whose run it is. */
function userName(): { user?: string } {
  try {
    return { user: userInfo().username };
  } catch {
    // A user without an entry in the system's list of users has no name.
    return {};
  }
}

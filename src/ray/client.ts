import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import * as v from 'valibot';
import { explainUnexpected } from './explain';
import { RayError } from './rayError';
import {
  actorsAnswer,
  clusterMetadataAnswer,
  clusterStatusAnswer,
  jobAnswer,
  jobsAnswer,
  logsAnswer,
  nodeDetailAnswer,
  nodeSummaryAnswer,
  nodesAnswer,
  type RayJob,
  type RayMemory,
  type RayNode,
  type RayTask,
  type RayUsage,
  stopAnswer,
  tasksAnswer,
  versionAnswer,
} from './schemas';
import { createTransport, hidden, type RayCall, type RayEndpoint } from './transport';

export type { RayJob, RayMemory, RayNode, RayTask, RayUsage } from './schemas';
export type { RayEndpoint } from './transport';

export interface RayVersion {
  readonly rayVersion: string;
  /** Tells one cluster from every other, also when both had the same address. */
  readonly sessionName: string;
}

export interface JobSubmission {
  /** Chosen by us, so that a job whose answer got lost can be found again. No `/` in it. */
  readonly submissionId: string;
  /** A shell command. Everybody who can reach the cluster can read it. */
  readonly entrypoint: string;
  readonly runtimeEnv: {
    /** What `uploadPackage` returned. */
    readonly workingDir: string;
    /** Everybody who can reach the cluster can read these, so no secrets. */
    readonly envVars: Readonly<Record<string, string>>;
    /** Python packages that Ray is to install for this job alone; none when the cluster has all it needs. */
    readonly packages?: readonly string[];
  };
  readonly metadata: Readonly<Record<string, string>>;
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

/**
 * The HTTP API of one Ray cluster. Every call throws RayError when Ray refuses, fails or does not answer in time,
 * and the signal's reason when it is aborted.
 */
export interface RayClient {
  version(options?: CallOptions): Promise<RayVersion>;
  /** The version of the Python that runs the cluster, and so its jobs. */
  pythonVersion(options?: CallOptions): Promise<string>;
  /** All nodes, those that are dead included. */
  nodes(options?: CallOptions): Promise<readonly RayNode[]>;
  /** What is taken of each node, by its id. Ray itself counts every 5 s, and not yet in a cluster's first seconds. */
  usage(options?: CallOptions): Promise<ReadonlyMap<string, RayUsage>>;
  /** The memory of each node's machine, by the node's id. Costs Ray more than all other looks together. */
  memory(options?: CallOptions): Promise<ReadonlyMap<string, RayMemory>>;
  /** `IP:port` for `ray.init` on a machine of the cluster, as a node knows it; undefined when it does not say. */
  gcsAddress(nodeId: string, options?: CallOptions): Promise<string | undefined>;
  /**
   * The Python that a node runs Ray with, by absolute path; undefined when it does not say. What a job calls `python` may be
   * another one: that is found through the PATH that `ray start` had.
   */
  pythonOf(nodeId: string, options?: CallOptions): Promise<string | undefined>;
  hasPackage(uri: string, options?: CallOptions): Promise<boolean>;
  /** Uploads a zip unless the cluster has it already; the answer is its URI, made from its content. */
  uploadPackage(zip: Uint8Array, options?: CallOptions): Promise<string>;
  /** Waits up to a minute for a cluster that has only just started to take jobs. */
  submitJob(job: JobSubmission, options?: CallOptions): Promise<void>;
  job(submissionId: string, options?: CallOptions): Promise<RayJob>;
  jobs(options?: CallOptions): Promise<readonly RayJob[]>;
  /** Whether an actor lives. Some do without a job: those that are detached from theirs, of Ray Serve for example. */
  hasLivingActor(options?: CallOptions): Promise<boolean>;
  /** The whole log of a job's driver so far. */
  jobLogs(submissionId: string, options?: CallOptions): Promise<string>;
  /**
   * Hands over the log of a job's driver from its beginning on, piece by piece, as it grows; a piece may end within a line.
   * Ray holds each line back for one to two seconds, unless ten come together.
   *
   * @returns when the connection has been closed, which Ray does some seconds after the job's end.
   */
  tailJobLogs(submissionId: string, onText: (text: string) => void, signal: AbortSignal): Promise<void>;
  /** Hands a file from below a node's logs over as it comes, byte for byte. */
  readLogFile(
    nodeId: string,
    path: string,
    read: (body: AsyncIterable<Uint8Array>) => Promise<void>,
    options?: CallOptions,
  ): Promise<void>;
  /** The tasks of a job, by Ray's own number of it, one for each attempt. */
  tasks(jobId: string, options?: CallOptions): Promise<readonly RayTask[]>;
  /** Asks Ray to stop a job; false when it had ended already. */
  stopJob(submissionId: string, options?: CallOptions): Promise<boolean>;
  /** Ends what is under way and closes the connections. */
  close(): Promise<void>;
}

/** Whether nothing more will happen to a job. */
export function jobHasEnded(job: RayJob): boolean {
  return job.status !== 'PENDING' && job.status !== 'RUNNING';
}

/** Ray's own limit for a package. Above it Ray answers 413 after everything has been sent. */
const LARGEST_PACKAGE = 100 * 1024 * 1024;
const READ_LIMIT_MS = 10_000;
const LOG_LIMIT_MS = 30_000;
/** For a file of hundreds of megabytes. */
const FILE_LIMIT_MS = 600_000;
/** Above the 10 s for which Ray itself waits for its agent. */
const WRITE_LIMIT_MS = 30_000;
const UPLOAD_LIMIT_MS = 300_000;
const AGENT_LIMIT_MS = 60_000;
const AGENT_PAUSE_MS = 500;

/** Makes a client. Nothing is sent before the first call. */
export function createRayClient(endpoint: RayEndpoint): RayClient {
  const transport = createTransport(endpoint);

  async function call<S extends v.GenericSchema>(schema: S, options: RayCall): Promise<v.InferOutput<S>> {
    const text = await transport.send(options);
    const facts = transport.facts(options.purpose);
    let raw: unknown;
    try {
      raw = JSON.parse(text);
    } catch {
      throw explainUnexpected(text, 'the answer is not JSON', facts);
    }
    const parsed = v.safeParse(schema, raw);
    if (!parsed.success) {
      const fields = parsed.issues.map((issue) => v.getDotPath(issue) ?? 'the whole answer');
      throw explainUnexpected(text, `unexpected content at ${fields.slice(0, 3).join(', ')}`, facts);
    }
    return parsed.output;
  }

  function read<S extends v.GenericSchema>(
    schema: S,
    path: string,
    purpose: string,
    options: CallOptions | undefined,
    limitMs = READ_LIMIT_MS,
  ): Promise<v.InferOutput<S>> {
    return call(schema, { method: 'GET', path, purpose, limitMs, signal: options?.signal });
  }

  /** No other answer than the command line of its raylet tells how a node was started. */
  async function optionOfRaylet(nodeId: string, name: string, options?: CallOptions): Promise<string | undefined> {
    const path = `/nodes/${encodeURIComponent(nodeId)}`;
    const answer = await read(nodeDetailAnswer, path, 'tell of a node', options);
    const start = `--${name}=`;
    return answer.data.detail.cmdline.find((argument) => argument.startsWith(start))?.slice(start.length);
  }

  async function hasPackage(uri: string, options?: CallOptions): Promise<boolean> {
    try {
      await transport.send({
        method: 'GET',
        path: packagePath(uri),
        purpose: 'look for the package',
        limitMs: READ_LIMIT_MS,
        signal: options?.signal,
      });
      return true;
    } catch (error) {
      if (error instanceof RayError && error.kind === 'not_found') {
        return false;
      }
      throw error;
    }
  }

  async function uploadPackage(zip: Uint8Array, options?: CallOptions): Promise<string> {
    if (zip.byteLength > LARGEST_PACKAGE) {
      throw new RayError(
        'too_large',
        `The package for the job is ${mebibytes(zip.byteLength)} MiB and Ray takes at most 100 MiB. Nothing was sent. Leave large files out of the benchmark's folder, or put them where the cluster can read them.`,
      );
    }
    const hash = createHash('sha256').update(zip).digest('hex').slice(0, 16);
    const uri = `gcs://_ray_pkg_${hash}.zip`;
    if (!(await hasPackage(uri, options))) {
      await transport.send({
        method: 'PUT',
        path: packagePath(uri),
        purpose: 'take the package',
        body: zip,
        limitMs: UPLOAD_LIMIT_MS,
        signal: options?.signal,
      });
    }
    return uri;
  }

  const job = (submissionId: string, options?: CallOptions): Promise<RayJob> =>
    read(jobAnswer, jobPath(submissionId), 'look up the job', options);

  async function submitOnce(submission: JobSubmission, options: CallOptions | undefined): Promise<void> {
    const secrets = Object.values(submission.runtimeEnv.envVars);
    try {
      await transport.send({
        method: 'POST',
        path: '/api/jobs/',
        purpose: 'take the job',
        body: JSON.stringify({
          submission_id: submission.submissionId,
          entrypoint: submission.entrypoint,
          runtime_env: runtimeEnvOf(submission),
          metadata: submission.metadata,
        }),
        limitMs: WRITE_LIMIT_MS,
        signal: options?.signal,
      });
    } catch (error) {
      // A connection that broke says nothing about the job: ask for it, rather than pay for it twice.
      const isThere =
        error instanceof RayError &&
        error.kind === 'unreachable' &&
        (await job(submission.submissionId, options).then(
          () => true,
          () => false,
        ));
      if (!isThere) {
        throw withoutSecrets(error, secrets);
      }
    }
  }

  async function submitJob(submission: JobSubmission, options?: CallOptions): Promise<void> {
    if ('job_submission_id' in submission.metadata) {
      // Ray keeps its own id under this name; with ours in its place the job's tasks are never found.
      throw new Error('job_submission_id in the metadata of a job would hide its tasks.');
    }
    const deadline = Date.now() + AGENT_LIMIT_MS;
    for (;;) {
      try {
        return await submitOnce(submission, options);
      } catch (error) {
        const mayCome = error instanceof RayError && error.kind === 'no_agent' && Date.now() < deadline;
        if (!mayCome) {
          throw error;
        }
        await wait(AGENT_PAUSE_MS, undefined, options?.signal ? { signal: options.signal } : {});
      }
    }
  }

  return {
    async version(options) {
      const answer = await read(versionAnswer, '/api/version', 'tell its version', options);
      return { rayVersion: answer.ray_version, sessionName: answer.session_name };
    },
    async pythonVersion(options) {
      const path = '/api/v0/cluster_metadata';
      return (await read(clusterMetadataAnswer, path, 'tell its Python version', options)).data.pythonVersion;
    },
    async nodes(options) {
      // 10,000 is the most that Ray takes.
      const answer = await read(nodesAnswer, '/api/v0/nodes?limit=10000', 'list its nodes', options);
      return answer.data.result.result;
    },
    async usage(options) {
      const answer = await read(clusterStatusAnswer, '/api/cluster_status', 'tell what is used', options);
      return new Map(Object.entries(answer.data.clusterStatus?.loadMetricsReport.usageByNode ?? {}));
    },
    async memory(options) {
      const answer = await read(nodeSummaryAnswer, '/nodes?view=summary', 'tell of its machines', options);
      const memory = new Map<string, RayMemory>();
      for (const { mem, raylet } of answer.data.summary) {
        if (mem && raylet.nodeId) {
          memory.set(raylet.nodeId, { total: mem[0], used: mem[3] });
        }
      }
      return memory;
    },
    gcsAddress: (nodeId, options) => optionOfRaylet(nodeId, 'gcs-address', options),
    async pythonOf(nodeId, options) {
      const command = await optionOfRaylet(nodeId, 'python_worker_command', options);
      // One text of several words, the first in quotes when there is a space in it.
      const [, quoted, plain] = /^(?:"([^"]+)"|(\S+)) /.exec(command ?? '') ?? [];
      return [quoted, plain].find((path) => path?.startsWith('/'));
    },
    hasPackage,
    uploadPackage,
    submitJob,
    job,
    jobs: (options) => read(jobsAnswer, '/api/jobs/', 'list its jobs', options),
    async hasLivingActor(options) {
      const filter = 'filter_keys=state&filter_predicates=%3D&filter_values=ALIVE';
      const answer = await read(actorsAnswer, `/api/v0/actors?${filter}&limit=1`, 'list its actors', options);
      return answer.data.result.result.length > 0;
    },
    async jobLogs(submissionId, options) {
      const path = `${jobPath(submissionId)}/logs`;
      return (await read(logsAnswer, path, "show the job's log", options, LOG_LIMIT_MS)).logs;
    },
    tailJobLogs: (submissionId, onText, signal) =>
      transport.receive({
        path: `${jobPath(submissionId)}/logs/tail`,
        purpose: "follow the job's log",
        onText,
        signal,
      }),
    async readLogFile(nodeId, path, readBody, options) {
      const query = `node_id=${encodeURIComponent(nodeId)}&filename=${encodeURIComponent(path)}&lines=-1`;
      await transport.stream(
        {
          method: 'GET',
          path: `/api/v0/logs/file?${query}`,
          purpose: 'fetch a file of the results',
          limitMs: FILE_LIMIT_MS,
          signal: options?.signal,
        },
        readBody,
      );
    },
    async tasks(jobId, options) {
      const filter = `filter_keys=job_id&filter_predicates=%3D&filter_values=${encodeURIComponent(jobId)}`;
      // Not in detail, which would bring the job's environment variables along. 10,000 is the most that Ray takes.
      const answer = await read(tasksAnswer, `/api/v0/tasks?${filter}&limit=10000`, 'list the tasks of a job', options);
      return answer.data.result.result;
    },
    async stopJob(submissionId, options) {
      const answer = await call(stopAnswer, {
        method: 'POST',
        path: `${jobPath(submissionId)}/stop`,
        purpose: 'stop the job',
        limitMs: WRITE_LIMIT_MS,
        signal: options?.signal,
      });
      return answer.stopped;
    },
    close: () => transport.close(),
  };
}

function runtimeEnvOf({ runtimeEnv: { workingDir, envVars, packages = [] } }: JobSubmission): object {
  return {
    working_dir: workingDir,
    env_vars: envVars,
    ...(packages.length > 0 && { pip: { packages } }),
  };
}

function jobPath(submissionId: string): string {
  return `/api/jobs/${encodeURIComponent(submissionId)}`;
}

/** `gcs://name` -> `/api/packages/gcs/name` */
function packagePath(uri: string): string {
  return `/api/packages/${uri.replace('://', '/')}`;
}

function mebibytes(bytes: number): string {
  return (bytes / 1024 / 1024).toFixed(1);
}

/** Ray's errors repeat what they were sent. */
function withoutSecrets(error: unknown, secrets: readonly string[]): unknown {
  if (!(error instanceof RayError)) {
    return error;
  }
  const message = hidden(error.message, secrets);
  return message === error.message ? error : new RayError(error.kind, message);
}

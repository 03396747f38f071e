/** What Ray answers, as far as we read it. Loose everywhere: Ray adds fields from version to version. */
import * as v from 'valibot';
import { hideKeys } from './hideKeys';

export const versionAnswer = v.looseObject({ ray_version: v.string(), session_name: v.string() });

export const clusterMetadataAnswer = v.looseObject({ data: v.looseObject({ pythonVersion: v.string() }) });

const node = v.pipe(
  v.looseObject({
    node_id: v.string(),
    node_ip: v.string(),
    is_head_node: v.boolean(),
    state: v.picklist(['ALIVE', 'DEAD']),
    state_message: v.nullish(v.string()),
    // Empty for a node that is dead.
    resources_total: v.nullish(v.record(v.string(), v.number())),
  }),
  v.transform((raw) => ({
    id: raw.node_id,
    ip: raw.node_ip,
    isHead: raw.is_head_node,
    state: raw.state,
    /** Why it is dead, as Ray says it. */
    message: raw.state_message ?? undefined,
    cpus: raw.resources_total?.CPU ?? 0,
    gpus: raw.resources_total?.GPU ?? 0,
    /** Bytes that Ray may give to tasks. */
    memory: raw.resources_total?.memory ?? 0,
  })),
  v.readonly(),
);
/** A machine of the cluster, or one that was part of it. */
export type RayNode = v.InferOutput<typeof node>;

/** Only how many there are is of interest. */
export const actorsAnswer = v.looseObject({
  data: v.looseObject({ result: v.looseObject({ result: v.array(v.looseObject({})) }) }),
});

export const nodesAnswer = v.looseObject({ data: v.looseObject({ result: v.looseObject({ result: v.array(node) }) }) });

const amount = v.nullish(v.tuple([v.number(), v.number()]));
const usage = v.pipe(
  v.looseObject({ CPU: amount, GPU: amount }),
  v.transform((raw) => ({ cpus: raw.CPU?.[0] ?? 0, gpus: raw.GPU?.[0] ?? 0 })),
  v.readonly(),
);
/** What tasks and actors have taken of a node's logical resources. */
export type RayUsage = v.InferOutput<typeof usage>;

/** What the autoscaler knows, which is nothing in a cluster's first seconds. */
export const clusterStatusAnswer = v.looseObject({
  data: v.looseObject({
    clusterStatus: v.nullish(
      v.looseObject({ loadMetricsReport: v.looseObject({ usageByNode: v.nullish(v.record(v.string(), usage)) }) }),
    ),
  }),
});

/** The machines themselves. One that is dead, or has only just come, tells nothing. */
export const nodeSummaryAnswer = v.looseObject({
  data: v.looseObject({
    summary: v.array(
      v.looseObject({
        // Total, available, percent, used.
        mem: v.nullish(v.looseTuple([v.number(), v.number(), v.number(), v.number()])),
        raylet: v.looseObject({ nodeId: v.nullish(v.string()) }),
      }),
    ),
  }),
});

/** A machine's memory, in bytes. */
export interface RayMemory {
  readonly used: number;
  readonly total: number;
}

/** A node, of which only the command line of its raylet is wanted: no other answer tells where the GCS is. */
export const nodeDetailAnswer = v.looseObject({
  // Not there before the node has reported for the first time.
  data: v.looseObject({ detail: v.looseObject({ cmdline: v.optional(v.array(v.string()), []) }) }),
});

/** A job. Its runtime environment is left out, and keys on its command line: they may be other people's. */
export const jobAnswer = v.pipe(
  v.looseObject({
    type: v.picklist(['SUBMISSION', 'DRIVER']),
    job_id: v.nullish(v.string()),
    submission_id: v.nullish(v.string()),
    status: v.picklist(['PENDING', 'RUNNING', 'SUCCEEDED', 'FAILED', 'STOPPED']),
    entrypoint: v.string(),
    message: v.nullish(v.string()),
    error_type: v.nullish(v.string()),
    start_time: v.nullish(v.number()),
    end_time: v.nullish(v.number()),
    metadata: v.nullish(v.record(v.string(), v.string())),
    driver_exit_code: v.nullish(v.number()),
  }),
  v.transform((raw) => ({
    /** `DRIVER` for a program that connected by itself; only a `SUBMISSION` has a log and can be stopped. */
    type: raw.type,
    submissionId: raw.submission_id ?? undefined,
    /** Ray's own number of it, by which its tasks are found. Only there once the driver has connected. */
    jobId: raw.job_id ?? undefined,
    status: raw.status,
    entrypoint: hideKeys(raw.entrypoint),
    message: raw.message == null ? undefined : hideKeys(raw.message),
    errorType: raw.error_type ?? undefined,
    /** Milliseconds since 1970. */
    startedAt: raw.start_time ?? undefined,
    /** Milliseconds since 1970, once it has ended. */
    endedAt: raw.end_time ?? undefined,
    metadata: raw.metadata ?? {},
    exitCode: raw.driver_exit_code ?? undefined,
  })),
  v.readonly(),
);
export type RayJob = v.InferOutput<typeof jobAnswer>;

export const jobsAnswer = v.array(jobAnswer);

const task = v.pipe(
  v.looseObject({
    task_id: v.string(),
    attempt_number: v.number(),
    name: v.string(),
    state: v.string(),
  }),
  v.transform((raw) => ({
    id: raw.task_id,
    /** 0 for the first. */
    attempt: raw.attempt_number,
    name: raw.name,
    /** Each version of Ray may have more steps before the last three, which are RUNNING, FINISHED and FAILED. */
    state: raw.state,
  })),
  v.readonly(),
);
/** One attempt of a task. */
export type RayTask = v.InferOutput<typeof task>;

export const tasksAnswer = v.looseObject({ data: v.looseObject({ result: v.looseObject({ result: v.array(task) }) }) });

export const logsAnswer = v.looseObject({ logs: v.string() });

export const stopAnswer = v.looseObject({ stopped: v.boolean() });

import { jobHasEnded, type RayClient, type RayJob } from '../ray/client';
import { RayError } from '../ray/rayError';
import { followLog, LOG_PACE, type LogPace } from './followLog';
import type { ClusterFate, RunEvent } from './runState';

/** Between two looks at a run that goes on, in ms. The driver reports four times a second. */
const LOOK_EVERY_MS = 500;
/** Between two looks while the cluster does not answer, in ms. */
const LOOK_AGAIN_MS = 2000;

export interface FollowOptions {
  readonly submissionId: string;
  /** Of the cluster that runs it; another one at the same address knows nothing of the job. */
  readonly sessionName: string;
  /** The client of the cluster that runs it; undefined while that cluster is not known to be up. */
  readonly client: () => RayClient | undefined;
  /** What has become of the cluster when it does not answer. */
  readonly fate: () => ClusterFate;
  /** When it was heard before, in milliseconds since 1970: after a reload nobody may have heard of it for long. */
  readonly heardAt: number;
  readonly onEvents: (events: readonly RunEvent[]) => void;
  /** The first line of the log that carries the marker and cannot be read. */
  readonly onFault: (fault: Error) => void;
  readonly signal: AbortSignal;
  /** How patient to be with the log. */
  readonly pace?: LogPace;
}

export interface RunFollower {
  /** Settles when the job has ended, when its cluster is gone, or when the signal aborts. */
  readonly done: Promise<void>;
  /** The driver's log as a person reads it. */
  log(): string;
}

/**
 * Follows a run to its end. Events are read from the log, from its start on, so that following again after a reload
 * gives the same state; the job's status alone says whether it goes on. A cluster that does not answer changes nothing
 * but when it was last heard.
 */
export function followRun(options: FollowOptions): RunFollower {
  const { submissionId, signal, onEvents, onFault } = options;
  const pauses = createPauses(signal);
  const log = followLog({
    submissionId,
    // One that goes on is told along, so that nobody sees answers of a job that still waits.
    onEvents: (events) => onEvents([...events, ...newsOf(running)]),
    onFault,
    onTrouble: (trouble) => onEvents([{ type: 'log', trouble }, ...newsOf(running)]),
    onEnd: pauses.end,
    pace: options.pace ?? LOG_PACE,
    signal,
  });
  let { heardAt } = options;
  /** What was said of the job last. The same again would only make every view draw itself anew. */
  let told = '';
  let running: RayJob | undefined;

  /** One look: job first, log second, so that the log of an ended job is whole. True when there is no more to come. */
  async function look(client: RayClient): Promise<boolean> {
    const job = await client.job(submissionId, { signal });
    heardAt = Date.now();
    const hasEnded = jobHasEnded(job);
    running = hasEnded ? undefined : job;
    if (hasEnded) {
      await log.finish(client, job.status !== 'STOPPED');
    } else if (job.status !== 'PENDING') {
      await log.look(client);
    }
    // After the log's events: what the end of the job means is read from the driver's last word.
    const news = newsOf(job);
    if (news.length > 0) {
      onEvents(news);
    }
    return hasEnded;
  }

  function newsOf(job: RayJob | undefined): readonly RunEvent[] {
    const now = job && JSON.stringify([job.status, job.message]);
    if (!job || !now || now === told) {
      return [];
    }
    told = now;
    const { status, message, endedAt } = job;
    return [{ type: 'job', status, message, endedAt }];
  }

  /** True when nothing will ever be heard again. */
  function tellSilence(fate: ClusterFate, reason?: string): boolean {
    told = '';
    onEvents([{ type: 'unheard', since: heardAt, fate, reason }]);
    return fate === 'gone' || fate === 'forgotten';
  }

  async function follow(): Promise<void> {
    while (!signal.aborted) {
      const client = options.client();
      try {
        if (client ? await look(client) : tellSilence(options.fate())) {
          return;
        }
      } catch (error) {
        if (signal.aborted) {
          return;
        }
        if (!(error instanceof RayError)) {
          throw error;
        }
        const fate = client && error.kind === 'not_found' ? await fateOf(client, options.sessionName) : 'silent';
        if (tellSilence(fate, error.message)) {
          return;
        }
      }
      if (told === '') {
        log.leave();
      }
      await pauses.pause(told === '' ? LOOK_AGAIN_MS : LOOK_EVERY_MS);
    }
  }

  return { done: follow().finally(log.leave), log: log.readable };
}

/** Whoever says that there is no such job may be another cluster, Ray after somebody deleted it, or a proxy without Ray. */
async function fateOf(client: RayClient, sessionName: string): Promise<ClusterFate> {
  try {
    return (await client.version()).sessionName === sessionName ? 'forgotten' : 'gone';
  } catch {
    return 'silent';
  }
}

/** Pauses that end early when there is reason to look at once. */
function createPauses(signal: AbortSignal): { pause(ms: number): Promise<void>; end(): void } {
  let isWanted = false;
  let wake: (() => void) | undefined;
  const end = (): void => {
    isWanted = true;
    wake?.();
  };
  signal.addEventListener('abort', end, { once: true });
  return {
    async pause(ms) {
      if (!isWanted) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      isWanted = false;
    },
    end,
  };
}

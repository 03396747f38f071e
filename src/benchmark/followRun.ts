import { setTimeout as wait } from 'node:timers/promises';
import { jobHasEnded, type RayClient } from '../ray/client';
import { RayError } from '../ray/rayError';
import { createDriverLogReader } from './driverLog';
import type { ClusterFate, RunEvent } from './runState';

/** Between two looks at a run that goes on, in ms. The driver reports four times a second. */
const LOOK_EVERY_MS = 500;
/** Between two looks while the cluster does not answer, in ms. */
const LOOK_AGAIN_MS = 2000;
/** How long the log may lag behind the job's end before what is missing is taken as missing, in ms. */
const LAST_WORD_MS = 5000;

export interface FollowOptions {
  readonly submissionId: string;
  /** The client of the cluster that runs it; undefined while that cluster is not known to be up. */
  readonly client: () => RayClient | undefined;
  /** What has become of the cluster when it does not answer. */
  readonly fate: () => ClusterFate;
  readonly onEvents: (events: readonly RunEvent[]) => void;
  /** The whole log so far, each time it was read. */
  readonly onLog: (log: string) => void;
  /** A line of the log that carries the marker and cannot be read. */
  readonly onFault: (fault: Error) => void;
  readonly signal: AbortSignal;
}

/**
 * Follows a run to its end. Events are read from the log, from its start on, so that following again after a reload
 * gives the same state; the job's status alone says whether it goes on. A cluster that does not answer changes nothing
 * but when it was last heard.
 *
 * @returns when the job has ended, when its cluster is gone, or when the signal aborts.
 */
export async function followRun(options: FollowOptions): Promise<void> {
  const readLog = createDriverLogReader();
  // The driver's last word often comes one look before the job's end, and is then not waited for again.
  const driver = { hasEnded: false };
  let heardAt = Date.now();
  while (!options.signal.aborted) {
    const client = options.client();
    try {
      if (!client) {
        const fate = options.fate();
        options.onEvents([{ type: 'unheard', since: heardAt, fate }]);
        if (fate === 'gone') {
          return;
        }
      } else if (await look(options, client, readLog, driver)) {
        return;
      } else {
        heardAt = Date.now();
      }
    } catch (error) {
      if (options.signal.aborted) {
        return;
      }
      if (!(error instanceof RayError)) {
        throw error;
      }
      if (error.kind === 'not_found') {
        // Another cluster at the same address, or a head node that was started anew: it knows nothing of this job.
        options.onEvents([{ type: 'unheard', since: heardAt, fate: 'gone' }]);
        return;
      }
      options.onEvents([{ type: 'unheard', since: heardAt, fate: 'silent' }]);
    }
    const pause = client ? LOOK_EVERY_MS : LOOK_AGAIN_MS;
    await wait(pause, undefined, { signal: options.signal }).catch(() => undefined);
  }
}

/** One look: job first, log second, so that the log of an ended job is whole. True when the job has ended. */
async function look(
  options: FollowOptions,
  client: RayClient,
  readLog: ReturnType<typeof createDriverLogReader>,
  driver: { hasEnded: boolean },
): Promise<boolean> {
  const { signal } = options;
  const job = await client.job(options.submissionId, { signal });
  const ended = jobHasEnded(job);
  const deadline = Date.now() + LAST_WORD_MS;
  const events: RunEvent[] = [];
  if (job.status !== 'PENDING') {
    for (;;) {
      const log = await client.jobLogs(options.submissionId, { signal });
      options.onLog(log);
      const news = readLog(log);
      events.push(...news.events);
      news.faults.forEach(options.onFault);
      driver.hasEnded ||= news.events.some((event) => event.type === 'end');
      const mayLag = ended && job.status !== 'STOPPED' && !driver.hasEnded;
      if (!mayLag || Date.now() > deadline) {
        break;
      }
      await wait(LOOK_EVERY_MS, undefined, { signal });
    }
  }
  // After the log's events: what the end of the job means is read from the driver's last word.
  events.push({ type: 'job', status: job.status, message: job.message, endedAt: job.endedAt });
  options.onEvents(events);
  return ended;
}

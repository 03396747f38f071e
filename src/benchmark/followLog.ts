import { setTimeout as wait } from 'node:timers/promises';
import { createThrottle } from '../common/throttle';
import type { DriverEvent } from '../protocol/driverEvents';
import type { RayClient } from '../ray/client';
import { RayError } from '../ray/rayError';
import { createDriverLog, type LogNews } from './driverLog';
import type { LogTrouble } from './runState';

/** How patient the following is; tests are less so. */
export interface LogPace {
  /** Between two readings of the whole log, in ms, while it is short. */
  readonly readEveryMs: number;
  /** A log up to this length, in characters, is read whole: on a socket Ray holds each line back for one to two seconds. */
  readonly socketFrom: number;
  /** A socket that is silent for so long, in ms, is doubted. */
  readonly doubtAfterMs: number;
  /** After a socket has failed it is tried again so much later, in ms, and later each time. */
  readonly socketAgainMs: number;
  /** How long the log may lag behind the job's end before what is missing is taken as missing, in ms. */
  readonly lastWordMs: number;
}

export const LOG_PACE: LogPace = {
  readEveryMs: 500,
  socketFrom: 200_000,
  doubtAfterMs: 5000,
  socketAgainMs: 30_000,
  lastWordMs: 5000,
};

/** A log that is read whole again and again costs at most so many characters a second: the cluster may be far away. */
const MOST_A_SECOND = 400_000;
const LONGEST_DOUBT_MS = 60_000;
const LONGEST_SOCKET_PAUSE_MS = 600_000;
/** Many pieces in a row are told as one. */
const TELL_EVERY_MS = 100;

export interface LogOptions {
  readonly submissionId: string;
  readonly onEvents: (events: readonly DriverEvent[]) => void;
  /** The first line of the log that carries the marker and cannot be read. */
  readonly onFault: (fault: Error) => void;
  /** The log cannot be read as it should be; undefined when it can again. */
  readonly onTrouble: (trouble: LogTrouble | undefined) => void;
  /** Something may have ended: the driver has said its last word, or the socket was closed. */
  readonly onEnd: () => void;
  readonly pace: LogPace;
  readonly signal: AbortSignal;
}

/** Follows a job's log: reads it whole while it is short, then over a socket, and whole again where that fails. */
export interface LogFollower {
  /** To be called at each look at a job that has begun; reads the log when it is time. */
  look(client: RayClient): Promise<void>;
  /** Reads what is still missing when the job has ended. */
  finish(client: RayClient, mayLag: boolean): Promise<void>;
  /** Ends what is under way with a cluster that is not there any more. */
  leave(): void;
  /** The log as a person reads it. */
  readable(): string;
}

interface Socket {
  readonly close: AbortController;
  /** How far it has told the log. */
  reached: number;
  heardAt: number;
  doubtAfterMs: number;
  /** How far it has to come until the next doubt, or it is silent. */
  expected: number;
}

export function followLog(options: LogOptions): LogFollower {
  const { submissionId, pace, signal } = options;
  const log = createDriverLog();
  let socket: Socket | undefined;
  let socketFailures = 0;
  let socketNotBefore = 0;
  let readNotBefore = 0;
  let hasEnded = false;
  let hasFault = false;
  let isUnderstood = false;
  let trouble: LogTrouble | undefined;
  let untold: DriverEvent[] = [];
  const teller = createThrottle(tell, TELL_EVERY_MS);

  function tell(): void {
    if (untold.length > 0 && !signal.aborted) {
      const events = untold;
      untold = [];
      options.onEvents(events);
    }
  }

  function take({ events, faults, isCut }: LogNews): void {
    tellFault(faults[0], events.length > 0);
    if (isCut) {
      // A socket reads on from a place that is not there any more.
      leave();
      setTrouble({ kind: log.length() === 0 ? 'gone' : 'cut' });
    }
    for (const event of events) {
      untold.push(event);
    }
    if (events.some(({ type }) => type === 'end')) {
      hasEnded = true;
      options.onEnd();
    }
    teller.request();
  }

  /** Once: what writes one line that cannot be read writes thousands. */
  function tellFault(fault: Error | undefined, isPartly: boolean): void {
    isUnderstood ||= isPartly;
    if (fault && !hasFault) {
      hasFault = true;
      options.onFault(fault);
    }
    if (hasFault && !isUnderstood) {
      setTrouble({ kind: 'unknown' });
    } else if (trouble?.kind === 'unknown') {
      setTrouble(undefined);
    }
  }

  function setTrouble(next: LogTrouble | undefined): void {
    if (next?.kind !== trouble?.kind) {
      trouble = next;
      options.onTrouble(next);
    }
  }

  /**
   * Reads it whole; false when it could not be read, which says nothing about the job.
   *
   * @param isLast when there will be no other time: then a broken connection is one to the cluster, to be waited for.
   */
  async function readWhole(client: RayClient, isLast = false): Promise<boolean> {
    try {
      take(log.takeWhole(await client.jobLogs(submissionId, { signal })));
    } catch (error) {
      if (signal.aborted || !(error instanceof RayError) || (isLast && error.kind === 'unreachable')) {
        throw error;
      }
      setTrouble({ kind: 'unreadable', reason: error.message });
      return false;
    } finally {
      readNotBefore = Date.now() + Math.max(pace.readEveryMs, (1000 * log.length()) / MOST_A_SECOND);
    }
    // What was cut stays cut; what is gone may come back, as may a server that could not read it.
    if (trouble?.kind === 'unreadable' || (trouble?.kind === 'gone' && log.length() > 0)) {
      setTrouble(undefined);
    }
    return true;
  }

  function openSocket(client: RayClient): void {
    const close = new AbortController();
    const opened: Socket = {
      close,
      reached: 0,
      heardAt: Date.now(),
      doubtAfterMs: pace.doubtAfterMs,
      expected: 0,
    };
    socket = opened;
    const onText = (text: string): void => {
      if (socket === opened) {
        const at = opened.reached;
        opened.reached += text.length;
        if (opened.reached > log.length()) {
          socketFailures = 0;
        }
        opened.heardAt = Date.now();
        opened.doubtAfterMs = pace.doubtAfterMs;
        take(log.takePiece(at, text));
      }
    };
    client
      .tailJobLogs(submissionId, onText, close.signal)
      .catch(() => undefined)
      .then(() => {
        // Whether it could not be opened, broke, or was closed as it is after a job's end, the next look tells.
        if (socket === opened) {
          giveUpSocket();
          options.onEnd();
        }
      });
  }

  function giveUpSocket(): void {
    leave();
    const pause = Math.min(pace.socketAgainMs * 2 ** socketFailures, LONGEST_SOCKET_PAUSE_MS);
    socketFailures += 1;
    socketNotBefore = Date.now() + pause;
    readNotBefore = 0;
  }

  /** A socket that has been silent may be one through which nothing comes: what it owes tells. */
  async function doubt(client: RayClient, doubted: Socket): Promise<void> {
    if (Date.now() - doubted.heardAt < doubted.doubtAfterMs) {
      return;
    }
    if (doubted.reached < doubted.expected) {
      giveUpSocket();
      await readWhole(client);
      return;
    }
    doubted.heardAt = Date.now();
    doubted.doubtAfterMs = Math.min(2 * doubted.doubtAfterMs, LONGEST_DOUBT_MS);
    if (await readWhole(client)) {
      doubted.expected = log.length();
      if (doubted.reached < doubted.expected) {
        doubted.doubtAfterMs = pace.doubtAfterMs;
      }
    }
  }

  function leave(): void {
    const left = socket;
    socket = undefined;
    left?.close.abort();
  }

  signal.addEventListener(
    'abort',
    () => {
      leave();
      teller.dispose();
    },
    { once: true },
  );

  return {
    async look(client) {
      if (socket) {
        await doubt(client, socket);
        return;
      }
      if (Date.now() >= readNotBefore) {
        await readWhole(client);
      }
      if (log.length() >= pace.socketFrom && Date.now() >= socketNotBefore) {
        openSocket(client);
      }
    },
    async finish(client, mayLag) {
      const deadline = Date.now() + pace.lastWordMs;
      // What the driver said last is the last that counts, and everything before it was heard.
      while (!hasEnded || log.length() < pace.socketFrom) {
        const isRead = await readWhole(client, true);
        if (hasEnded || Date.now() > deadline || (isRead && !mayLag)) {
          break;
        }
        await wait(pace.readEveryMs, undefined, { signal });
      }
      if (log.length() === 0) {
        setTrouble({ kind: 'gone' });
      }
      leave();
      teller.now();
    },
    leave,
    readable: log.readable,
  };
}

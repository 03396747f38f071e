/** What a watcher sees of its cluster at one look. */
export interface UseLook {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly hasWindow: boolean;
  /** It is to be kept although nobody uses it. */
  readonly isKept: boolean;
  /** Whether something runs on it; undefined when Ray does not say so, which is not a no. */
  readonly isUsed: boolean | undefined;
}

/** How many looks in a row have found a cluster that nobody uses, and when the last look was. */
export interface UnusedLooks {
  readonly count: number;
  readonly at: number;
}

/** Above this many times the usual pause the machine has slept, or the watcher was stopped. */
const LONGEST_PAUSE = 3;

/**
 * Counts looks, and not time: while the machine sleeps nobody can use the cluster, and what used it comes back with it. After
 * a sleep the count begins anew.
 *
 * @param pauseMs the usual time from look to look
 */
export function countUnused(before: UnusedLooks, look: UseLook, pauseMs: number): UnusedLooks {
  const isUnused = !look.hasWindow && !look.isKept && look.isUsed === false;
  const hasSlept = look.at - before.at > LONGEST_PAUSE * pauseMs;
  return { count: isUnused ? (hasSlept ? 0 : before.count) + 1 : 0, at: look.at };
}

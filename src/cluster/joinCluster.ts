import { isLoopback, isReadableOnTheWay } from '../ray/address';
import { RayError } from '../ray/rayError';
import type { ClusterAccess, JoinedCluster, TokenSource } from './clusterAccess';

/** What only a person can answer. Each throws when they leave. */
export interface JoinQuestions {
  /**
   * How to get in.
   *
   * @param sources where Ray itself would look for a token on this machine
   * @param before what was tried last
   */
  access(refusal: RayError | undefined, sources: readonly TokenSource[], before: ClusterAccess): Promise<ClusterAccess>;
  /** Tells that what is sent there can be read on the way, and asks whether to send it. */
  sendReadable(url: string): Promise<void>;
}

export interface JoinOptions {
  readonly url: string;
  readonly join: (joined: JoinedCluster) => Promise<void>;
  /** What let us in before, when there is something. */
  readonly kept: ClusterAccess | undefined;
  readonly sources: readonly TokenSource[];
  readonly questions: JoinQuestions;
  /** Asks how to get in before anything is tried: for a proxy whose refusal does not look like one. */
  readonly askFirst?: boolean;
}

/**
 * Joins a cluster with as little as it asks for: what was kept, then nothing, then the tokens that Ray would use itself,
 * then what a person gives. A token that nobody kept or gave for this cluster goes to this machine only: another host
 * that says "unauthorized" is not thereby one that should get it.
 *
 * @throws RayError when it cannot be reached; what the questions throw when the person leaves.
 */
export async function joinWithAccess(options: JoinOptions): Promise<void> {
  const { url, join, kept, sources, questions } = options;
  // What a proxy wants, it wants whatever Ray does.
  const withoutToken: ClusterAccess = kept?.headers ? { headers: kept.headers } : {};
  const byItself: ClusterAccess[] = [
    ...(kept?.token ? [kept] : []),
    withoutToken,
    ...(isLoopback(url) ? sources.map((token) => ({ ...withoutToken, token })) : []),
  ];
  let refusal: RayError | undefined;
  for (const access of options.askFirst ? [] : byItself) {
    refusal = await refusalOf(() => join({ url, access }));
    if (!refusal) {
      return;
    }
  }
  let access = withoutToken;
  let isToldOfReading = false;
  for (;;) {
    access = await questions.access(refusal, sources, access);
    if (isReadableOnTheWay(url) && !isToldOfReading) {
      await questions.sendReadable(url);
      isToldOfReading = true;
    }
    refusal = await refusalOf(() => join({ url, access }));
    if (!refusal) {
      return;
    }
  }
}

/** The refusal that another token or header may change; undefined without one. Throws every other error. */
async function refusalOf(join: () => Promise<void>): Promise<RayError | undefined> {
  try {
    await join();
    return undefined;
  } catch (error) {
    if (error instanceof RayError && (error.kind === 'unauthorized' || error.kind === 'forbidden')) {
      return error;
    }
    throw error;
  }
}

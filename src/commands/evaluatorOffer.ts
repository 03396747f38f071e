import type { NewRun, RunCluster, Runs } from '../benchmark/runs';
import type { Disposable } from '../common/emitter';
import { UserError } from '../common/userError';
import { hasEnded } from '../protocol/runSnapshot';

/** Offers to bring the evaluator in when a run of this window found none in the cluster's Python. */
export interface EvaluatorOffer extends Disposable {
  /** Sends a run, and keeps what was sent until it is certain that it need not be sent again. */
  submit(run: NewRun, cluster: RunCluster): Promise<string>;
  /** Sends a run again, this time with the evaluator; gives the new run's id. */
  take(id: unknown): Promise<string>;
}

/**
 * Makes the offer. The driver is what looks for the evaluator, as the first thing it does: a job of its own that only looks
 * would cost every first run on a cluster the seconds that Ray takes to start a job, to tell the same.
 *
 * @param tell shows an error to a person
 */
export function createEvaluatorOffer(
  runs: Pick<Runs, 'submit' | 'snapshot' | 'onDidChange'>,
  tell: (error: UserError) => void,
): EvaluatorOffer {
  const sent = new Map<string, { readonly run: NewRun; readonly cluster: RunCluster; isOffered: boolean }>();
  /** The clusters on which the offer was taken: the next runs there bring it at once. */
  const taken = new Set<string>();

  const subscription = runs.onDidChange((id) => {
    const snapshot = runs.snapshot(id);
    const known = sent.get(id);
    if (!snapshot || !known || known.isOffered || !hasEnded(snapshot.status)) {
      return;
    }
    if (snapshot.reason !== 'evaluator' || taken.has(known.cluster.sessionName)) {
      // It may hold the model's key.
      sent.delete(id);
      return;
    }
    known.isOffered = true;
    tell(
      new UserError(
        `${snapshot.message} Ray would fetch it from the package index that pip uses on the cluster, which takes some minutes the first time.`,
        [{ title: 'Let Ray install it', command: 'shardboard.submitWithEvaluator', args: [id] }],
      ),
    );
  });

  async function submit(run: NewRun, cluster: RunCluster): Promise<string> {
    const bringsEvaluator = taken.has(cluster.sessionName);
    const id = await runs.submit(bringsEvaluator ? { ...run, bringsEvaluator } : run, cluster);
    sent.set(id, { run, cluster, isOffered: false });
    return id;
  }

  return {
    submit,
    async take(id) {
      const known = sent.get(String(id));
      if (!known) {
        throw new UserError('This run cannot be sent again by itself. Submit it anew.', [
          { title: 'Submit benchmark', command: 'shardboard.submitBenchmark' },
        ]);
      }
      taken.add(known.cluster.sessionName);
      sent.delete(String(id));
      return await submit(known.run, known.cluster);
    },
    dispose: () => subscription.dispose(),
  };
}

import type { OtherRuns } from './otherRuns';
import type { Runs } from './runs';

/** The runs of this window and, beside them, those of others. Which is the latest, and which go on, is said of this window's. */
export interface AllRuns extends Runs {
  /** Follows a run closely while somebody sees it; this window's are followed in any case. */
  look: OtherRuns['look'];
}

export function withOthers(runs: Runs, others: OtherRuns): AllRuns {
  const isOwn = (id: string): boolean => runs.snapshot(id) !== undefined;
  return {
    ...runs,
    all: () => [...others.all().filter((id) => !isOwn(id)), ...runs.all()],
    snapshot: (id) => runs.snapshot(id) ?? others.snapshot(id),
    onDidChange(listener) {
      const subscriptions = [runs.onDidChange(listener), others.onDidChange(listener)];
      return {
        dispose() {
          for (const subscription of subscriptions) {
            subscription.dispose();
          }
        },
      };
    },
    cancel: (id) => (isOwn(id) ? runs.cancel(id) : others.cancel(id)),
    log: (id) => (isOwn(id) ? runs.log(id) : others.log(id)),
    look: (id) => (isOwn(id) ? { dispose: () => undefined } : others.look(id)),
  };
}

import type { Disposable, Event } from '../common/emitter';
import type { RunSnapshot } from '../protocol/runSnapshot';

/** What the views see of the runs. */
export interface RunSource {
  /** Ids of all runs, the oldest first; those of others are before this window's. */
  all(): readonly string[];
  /** Ids of the runs that were sent to the cluster with this session name, the oldest first. */
  on(sessionName: string): readonly string[];
  /** Ids of the runs that go on, as far as this window can tell, the oldest first. */
  active(): readonly string[];
  /** The run that was submitted last. */
  latest(): string | undefined;
  snapshot(id: string): RunSnapshot | undefined;
  /** To be called while somebody sees a run, until they do not any more. */
  look(id: string): Disposable;
  /** Fires with the id of a run whose snapshot may have changed. */
  readonly onDidChange: Event<string>;
}

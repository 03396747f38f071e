import type { Event } from '../common/emitter';

/** The configurations that Gym runs for this window. */
export interface RunningConfigurations {
  readonly onDidChange: Event<void>;
  /** Their paths. */
  running(): readonly string[];
}

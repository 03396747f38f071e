import type { SourceRange } from '../python/syntax';

/**
 * What a class says about `ray_enabled`:
 * - `on`, `off`: a plain True or False in its own body;
 * - `not_declared`: nothing, an explicit None, or a declaration that is taken back (`del`);
 * - `unreadable`: something that only running the file can tell, or that is not typed to its end.
 */
export type RayEnabledKind = 'on' | 'off' | 'not_declared' | 'unreadable';

/** The flag as Python's last word in the body of the class itself; nothing inherited, nothing set from outside. */
export interface RayEnabled {
  readonly kind: RayEnabledKind;
  /** The statement that says so, where there is one. */
  readonly declaration: SourceRange | undefined;
}

/** What Gym's supervisor settles from the source alone, without running it. */
export type SupervisorReading = 'on' | 'off' | 'unknown';

/** A class that is, or may be, a Gym server. */
export interface ServerClass {
  readonly name: string;
  /** Python's `__qualname__`, for example `Outer.Inner`. */
  readonly qualifiedName: string;
  readonly nameRange: SourceRange;
  readonly rayEnabled: RayEnabled;
  /**
   * The class of this file that it inherits a declaration from, when it has none of its own and there is just one such class.
   * The supervisor does not follow it.
   */
  readonly declaringBase: string | undefined;
  /** The supervisor's reading of this class: only a literal in its own body counts. */
  readonly supervisor: SupervisorReading;
  /** Whether this file calls `run_webserver()` on the class. */
  readonly starts: boolean;
}

/** A call `NAME.run_webserver()`. */
export interface StartCall {
  /** What stands before the dot, as written: a name or a dotted name. */
  readonly receiver: string;
  readonly range: SourceRange;
}

/** What one Python file holds that concerns Gym. */
export interface ServerFile {
  readonly classes: readonly ServerClass[];
  readonly startCalls: readonly StartCall[];
  /** The supervisor's reading of the file as an entrypoint; `unknown` too when it starts nothing or does not parse. */
  readonly supervisor: SupervisorReading;
}

import type { SourceRange } from '../python/syntax';
import type { BodyValue, FlagWarning, RayRemote, RayUse, StartCall } from './moduleFacts';

/**
 * What a reading finds: what a body can say, or `unknown` where a base or a module cannot be found or told.
 * `not_declared` means that Gym's own None holds.
 */
export type FlagValue = BodyValue | 'unknown';

/** What Gym's supervisor settles from the source alone, without running it. */
export type SupervisorReading = 'on' | 'off' | 'unknown';

/** Where the value of a reading comes from. */
export type FlagOrigin =
  /** The body of the class itself, or a setting of its own from outside. */
  | { readonly kind: 'own' /** The line outside the body that has the last word. */; readonly setAgainOnLine?: number }
  /** Another class: a base, or, of a class of another file that this file starts, that class itself. */
  | {
      readonly kind: 'base';
      readonly className: string;
      /** The file of that class; undefined when it is the same file. */
      readonly file: string | undefined;
      /** The declaration in that file, or the name of the class. */
      readonly range: SourceRange;
      readonly setAgainOnLine?: number;
    }
  /** What could not be followed, as `module:Name` for an import, else as written. */
  | { readonly kind: 'unresolved'; readonly what: string };

export interface FlagReading {
  readonly value: FlagValue;
  /** Undefined when nobody declares the flag. */
  readonly origin: FlagOrigin | undefined;
}

/** A class that is, or may be, a Gym server, with the three readings of its flag. */
export interface ServerClass {
  readonly name: string;
  /** Python's `__qualname__`, for example `Outer.Inner`. */
  readonly qualifiedName: string;
  readonly nameRange: SourceRange;
  /** Whether the class stands at the top level under no condition: the supervisor sees no other. */
  readonly isTopLevel: boolean;
  /** What its own body says. */
  readonly declared: BodyValue;
  /** The statement that says so, where there is one. */
  readonly declaration: SourceRange | undefined;
  /** The supervisor's: only a literal in the body of the class counts. */
  readonly strict: SupervisorReading;
  /** Its bases in this file, in Python's own order. */
  readonly sameFile: FlagReading;
  /** Its bases in other files too. The same as `sameFile` while imports have not been followed. */
  readonly tree: FlagReading;
  /**
   * What Gym sees of the class when it runs: as `tree`, but pydantic takes from a class of the model what the class itself
   * says of a field. The same as `tree` where no type makes a field of the flag.
   */
  readonly runs: FlagReading;
  /** Where a type stands that makes a field of the flag in this class: in its own body, or in that of a base. */
  readonly field: ModelField | undefined;
  /** Whether a base makes a field of it, so that a plain value here would not be that of the class. */
  readonly inheritsField: boolean;
  /** Whether running this file starts it. */
  readonly starts: boolean;
  /** Every call in this file that starts it or makes an application of it for uvicorn's workers. */
  readonly startCalls: readonly StartCall[];
  readonly warnings: readonly (FlagWarning | OutsideWarning)[];
}

/** A type that is no ClassVar, on `ray_enabled` of a pydantic model. */
export interface ModelField {
  /** The class in whose body it stands. */
  readonly className: string;
  readonly isOwn: boolean;
  /** The file of that class; undefined when it is the same file. */
  readonly file: string | undefined;
  readonly range: SourceRange;
}

export interface OutsideWarning {
  readonly code: 'set_outside_class_body';
  readonly range: SourceRange;
}

/** A class of another file that this file starts. */
export interface StartedElsewhere {
  readonly call: StartCall;
  readonly sameFile: FlagReading;
  readonly tree: FlagReading;
}

/** What one Python file holds that concerns Gym. */
export interface ServerFile {
  readonly classes: readonly ServerClass[];
  /** Every call `NAME.run_webserver()` in the order of the file. */
  readonly startCalls: readonly StartCall[];
  readonly startedElsewhere: readonly StartedElsewhere[];
  readonly entrypoint: EntrypointReading;
  readonly rayUses: readonly RayUse[];
  readonly remotes: readonly RayRemote[];
  /** False when the grammar found an error: Python would not run the file, and Gym reads nothing from it. */
  readonly parses: boolean;
}

/** The flag of the file as a whole: of what it starts, any on makes it on, else any that is unknown makes it unknown. */
export interface EntrypointReading {
  readonly strict: SupervisorReading;
  /** Whether the published rules leave the supervisor's reading of a started class open. */
  readonly strictOpen: boolean;
  readonly sameFile: FlagValue;
  readonly tree: FlagValue;
}

import type { SourceRange } from '../python/syntax';

/**
 * What one Python module says, read from its own text alone: plain data without nodes of a syntax tree, so that it can be
 * kept when the tree is gone. What follows from it and from other modules is a reading: see serverFile.ts.
 */
export interface ModuleFacts {
  /** Every class of the file in its order, whether it has to do with Gym or not: any class can be a base. */
  readonly classes: readonly ClassFacts[];
  /** What names mean at the top level of the module, each in the order of the file: the last one executed counts. */
  readonly names: ReadonlyMap<string, readonly NameBinding[]>;
  /** `from module import *` at the top level, in the order of the file. */
  readonly starImports: readonly StarImport[];
  /** The names of a literal `__all__`; undefined when there is none that can be read. */
  readonly exports: readonly string[] | undefined;
  /** Every module that is imported anywhere in the file, whatever names are taken from it. */
  readonly importedModules: readonly ImportedModule[];
  readonly startCalls: readonly StartCall[];
  /** `NAME.ray_enabled = …` and `setattr(NAME, "ray_enabled", …)` outside of class bodies. */
  readonly settings: readonly FlagSetting[];
  readonly rayUses: readonly RayUse[];
  readonly remotes: readonly RayRemote[];
  /** False when the grammar found an error: Python would not run the file, and Gym reads nothing from it. */
  readonly parses: boolean;
}

/** A module as an import statement names it: `level` dots, then `module` (which may be empty, as in `from . import a`). */
export interface ModuleReference {
  readonly module: string;
  readonly level: number;
}

export interface ImportedModule extends ModuleReference {
  /** The names taken from it: each may be a module too. Empty for `import a.b` and for `*`. */
  readonly names: readonly string[];
  readonly range: SourceRange;
  /** Whether it stands under `if TYPE_CHECKING:`, and so is never run. */
  readonly typeCheckingOnly: boolean;
}

export interface StarImport extends ModuleReference {
  readonly line: number;
}

/** One statement that gives a name of the module a meaning. */
export type NameBinding = {
  readonly line: number;
  /** Whether it stands under an `if`, `try`, `for` or the like, so that it may not be executed. */
  readonly conditional: boolean;
  /** Whether a `try` is what it stands under. */
  readonly inTry: boolean;
  /** Whether it stands under `if TYPE_CHECKING:`, and so is never run. */
  readonly typeCheckingOnly: boolean;
  /** Whether it stands in a function: it then means something only there. */
  readonly local: boolean;
} & NameMeaning;

export type NameMeaning =
  | { readonly kind: 'class' /** Index in {@link ModuleFacts.classes}. */; readonly index: number }
  | ({
      readonly kind: 'import';
      /** What is taken from the module; undefined for `import a.b` (`a`) and `import a.b as c` (`a.b`). */
      readonly name: string | undefined;
    } & ModuleReference)
  | { readonly kind: 'alias' /** The dotted name that stands for. */; readonly target: string }
  /** Something else: a function, a computed value. */
  | { readonly kind: 'other' };

/** A base class, or the receiver of a call, as far as this file tells what it is. */
export type ClassReference =
  | { readonly kind: 'class' /** Index in {@link ModuleFacts.classes}. */; readonly index: number }
  | ({
      readonly kind: 'import';
      /** What is looked up in the module, part by part: a submodule, a class, a class in a class. */
      readonly path: readonly string[];
    } & ModuleReference)
  /** A name that this file does not bind: Python's own, or from a star import. */
  | { readonly kind: 'name'; readonly name: string }
  /** A name of this file that a star import below its meaning may have given another one. */
  | {
      readonly kind: 'star_or';
      readonly name: string;
      /** The line of the meaning that holds when no star import after it brings the name. */
      readonly after: number;
      readonly otherwise: ClassReference;
    }
  /** A name with a meaning in each branch of a `try` or an `if`. In a `try`, the first that can be found counts. */
  | { readonly kind: 'either'; readonly inTry: boolean; readonly choices: readonly ClassReference[] }
  /** An expression, or a name that means no class: only running the file can tell. */
  | { readonly kind: 'unknown'; readonly text: string };

export interface ClassFacts {
  readonly name: string;
  /** Python's `__qualname__`, for example `Outer.Inner` or `make.<locals>.Server`. */
  readonly qualifiedName: string;
  readonly nameRange: SourceRange;
  /** Whether it stands at the top level under no condition, under a condition, in another class, or in a function. */
  readonly place: 'top' | 'conditional' | 'class' | 'function';
  readonly bases: readonly ClassReference[];
  readonly flag: FlagFacts;
}

/** What the body of a class itself says about `ray_enabled`: nothing inherited, nothing set from outside. */
export interface FlagFacts {
  /** Python's last word in the body. */
  readonly value: BodyValue;
  /** The statement that says so, where there is one. */
  readonly declaration: SourceRange | undefined;
  /** How that statement is written. `conditional`: under an `if`, a `try` or the like in the body. */
  readonly form: 'assign' | 'annotated' | 'chained' | 'conditional' | 'other' | undefined;
  /** What Gym's supervisor reads: the last plain True or False that is assigned directly in the body. */
  readonly strict: 'on' | 'off' | 'unknown';
  /** Whether the published rules leave the supervisor's reading open: two assignments, or a chain of them. */
  readonly strictOpen: boolean;
  /** Whether the class has a value of its own, be it None: then no base counts. */
  readonly bound: boolean;
  /** What pydantic makes of its type, where it has one: of several, Python keeps the last. */
  readonly type: { readonly makes: 'class_var' | 'field'; readonly range: SourceRange } | undefined;
  /** Whether the body speaks of the flag at all, as a bare annotation or a `del` does too. */
  readonly mentioned: boolean;
  readonly warnings: readonly FlagWarning[];
}

/**
 * - `on`, `off`: a plain True or False;
 * - `not_declared`: nothing, an explicit None, or a declaration that is taken back (`del`);
 * - `unreadable`: something that only running the file can tell, or that is not typed to its end.
 */
export type BodyValue = 'on' | 'off' | 'not_declared' | 'unreadable';

export interface FlagWarning {
  readonly code:
    | 'not_a_literal'
    | 'annotated_without_class_var'
    | 'annotation_without_value'
    | 'declared_more_than_once'
    | 'strict_reading_open'
    | 'set_on_instance';
  readonly range: SourceRange;
}

/** A call `NAME.run_webserver()`. */
export interface StartCall {
  /** What stands before the dot, as written: a name or a dotted name. */
  readonly receiver: string;
  readonly range: SourceRange;
  readonly target: ClassReference;
  /** Whether the receiver leads to its class through another name (`App = Server`). The supervisor does not follow it. */
  readonly throughAlias: boolean;
  /** What the call stands under: the main guard, the guard of uvicorn's workers, the opposite of the main guard, a function, or none of them. */
  readonly guard: 'main' | 'fastapi' | 'not_main' | 'function' | 'module';
  /** The innermost function it stands in. */
  readonly function: string | undefined;
  /** Whether running the file as Gym does (as `__main__`) may start the server. */
  readonly starts: boolean;
}

/** The flag set from outside the class. */
export interface FlagSetting {
  readonly target: ClassReference;
  readonly value: BodyValue;
  readonly range: SourceRange;
  /** Whether it is surely executed: at the top level, under no condition. */
  readonly certain: boolean;
}

/** A place that needs Ray when the file runs: an import of it, or of something in it. */
export interface RayUse {
  readonly range: SourceRange;
  /** What is imported or used, for a sentence: `import ray`, `@ray.remote`, `ray.get`. */
  readonly text: string;
}

/** Something made remote with `@ray.remote` or `ray.remote(…)`. */
export interface RayRemote {
  /** The decorator or the call. */
  readonly range: SourceRange;
  /**
   * Whether its workers get this server's own Python: `runtime_env` with `py_executable`. `unknown` when the runtime_env is
   * computed, or the name is used with other options somewhere.
   */
  readonly pyExecutable: 'given' | 'missing' | 'unknown';
}

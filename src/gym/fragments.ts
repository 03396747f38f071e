import type { Node } from 'web-tree-sitter';
import type { SourceRange } from '../python/syntax';
import type { FlagBinding } from './flagInBody';
import type { BodyValue, RayRemote } from './moduleFacts';

/**
 * What one statement says, with places told from where the statement begins. A statement that is edited around keeps its
 * fragment: only what was typed in is read again.
 */
export interface Fragment {
  readonly classes: readonly FoundInStatement<ClassFragment>[];
  readonly imports: readonly FoundInStatement<ImportFragment>[];
  readonly calls: readonly FoundInStatement<CallFragment>[];
  readonly settings: readonly FoundInStatement<SettingFragment>[];
  readonly remotes: readonly FoundInStatement<RemoteFragment>[];
  /** Names that an assignment or a `def` binds at the level of the statement itself. */
  readonly names: readonly FoundInStatement<NameFragment>[];
  readonly exports: ExportsFragment | undefined;
  /** Bindings of the flag, when the statement stands in the body of a class. */
  readonly flagBindings: readonly FlagBinding[];
  /** Whether it gives workers a Python of their own somewhere else than where they are made. */
  readonly mentionsPyExecutable: boolean;
}

/** Where something stands: what is around it in its statement, or, once put together, in its file. */
export interface Surroundings {
  /** The scopes around it, the outermost first. */
  readonly scopes: readonly Scope[];
  /** Whether it stands in no other statement than a class or function. */
  readonly isPlain: boolean;
  /** Whether it may not be executed when the file is run as `__main__`. */
  readonly conditional: boolean;
  readonly inTry: boolean;
  readonly typeCheckingOnly: boolean;
  readonly guard: 'main' | 'fastapi' | 'not_main' | undefined;
}

/** A class or a function, and where it begins: two of one name are told apart by that. */
export interface Scope extends Origin {
  readonly kind: 'class' | 'function';
  readonly name: string;
}

export interface FoundInStatement<T> {
  readonly range: SourceRange;
  readonly around: Surroundings;
  readonly what: T;
}

export interface ClassFragment {
  readonly name: string;
  readonly nameRange: SourceRange;
  /** Dotted names, or the text of what is none. */
  readonly bases: readonly { readonly name: string | undefined; readonly text: string }[];
  readonly flagBindings: readonly FlagBinding[];
}

export interface ImportFragment {
  readonly module: string;
  readonly level: number;
  /** `import a.b` has none; `*` is one of them. */
  readonly names: readonly { readonly name: string; readonly alias: string | undefined }[];
  readonly isFrom: boolean;
  /** The local name of `import a.b as c`. */
  readonly alias: string | undefined;
  readonly text: string;
}

export interface CallFragment {
  readonly receiver: string;
}

export interface SettingFragment {
  readonly target: string;
  readonly value: BodyValue;
}

export interface RemoteFragment {
  readonly name: string;
  readonly pyExecutable: RayRemote['pyExecutable'];
}

export interface NameFragment {
  readonly name: string;
  /** The dotted name that it stands for; undefined for anything else. */
  readonly alias: string | undefined;
}

/** `__all__ = […]` or `__all__ += […]`. */
export interface ExportsFragment {
  /** Undefined when they are no literal strings. */
  readonly names: readonly string[] | undefined;
  readonly areAdded: boolean;
}

/** A place in a file. */
export interface Origin {
  readonly line: number;
  readonly column: number;
}

export function originOf(node: Node): Origin {
  return { line: node.startPosition.row, column: node.startPosition.column };
}

/** A range as it is told from an origin: columns count from it only on its own line. */
export function relativeTo(range: SourceRange, origin: Origin): SourceRange {
  const column = (line: number, value: number): number => (line === origin.line ? value - origin.column : value);
  return {
    startLine: range.startLine - origin.line,
    startColumn: column(range.startLine, range.startColumn),
    endLine: range.endLine - origin.line,
    endColumn: column(range.endLine, range.endColumn),
  };
}

export function relativeOrigin({ line, column }: Origin, origin: Origin): Origin {
  return { line: line - origin.line, column: line === origin.line ? column - origin.column : column };
}

export function absoluteOrigin({ line, column }: Origin, origin: Origin): Origin {
  return { line: line + origin.line, column: column + (line === 0 ? origin.column : 0) };
}

/** The opposite of {@link relativeTo}. */
export function absolute(range: SourceRange, origin: Origin): SourceRange {
  return {
    startLine: range.startLine + origin.line,
    startColumn: range.startColumn + (range.startLine === 0 ? origin.column : 0),
    endLine: range.endLine + origin.line,
    endColumn: range.endColumn + (range.endLine === 0 ? origin.column : 0),
  };
}

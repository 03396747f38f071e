import type { Event } from '../common/emitter';
import type { ModuleFacts } from './moduleFacts';
import type { ServerFile } from './serverFile';

/** The files that an index reads. Paths are absolute, with `/` between their parts. */
export interface SourceFiles {
  /** The bytes of a file; undefined when there is none or it cannot be read. */
  read(path: string): Promise<Uint8Array | undefined>;
  /** Every Python file below a folder, without what is never a server (virtual environments, caches). */
  list(folder: string, signal: AbortSignal): Promise<readonly string[]>;
}

/** What the Gym servers of a workspace say, with imports followed from file to file. */
export interface ServerIndex {
  /** Fires, not more often than a person can see, when what {@link files} or {@link readDocument} answers has changed. */
  readonly onDidChange: Event<void>;
  /** Every file of the workspace that holds or starts a server, by its path. It grows while the index is being built. */
  files(): ReadonlyMap<string, ServerFile>;
  /** Whether every file has been looked at. */
  isComplete(): boolean;
  /** Looks at every file of the roots, in the background; a second call joins the first. */
  build(signal?: AbortSignal): Promise<void>;
  /** Takes up files that have been written, made or deleted. */
  update(paths: readonly string[]): void;
  /** One file with its imports followed, whether it is in the index or not; undefined when it cannot be read. */
  read(path: string): Promise<ServerFile | undefined>;
  /**
   * What an open document holds, from the facts of its present text: at once, with the imports that have been read. Where
   * some have not, they are read in the background, and {@link onDidChange} tells when they are there.
   */
  readDocument(path: string, facts: ModuleFacts): ServerFile;
  /** The text of the file on disk counts again. */
  closeDocument(path: string): void;
  /** Whether a text may hold a server: it speaks of Gym, or of a class that servers are made from in this workspace. */
  mayHoldServers(text: string): boolean;
  dispose(): void;
}

import type { Event } from '../common/emitter';

/** How far the Gym of a configuration is; one that has failed runs no longer. */
export type RunState =
  | { readonly kind: 'starting' | 'running' | 'stopping' }
  | { readonly kind: 'failed'; readonly exitCode: number | undefined };

/** The configurations that Gym runs for this window. */
export interface RunningConfigurations {
  readonly onDidChange: Event<void>;
  /** Their paths. */
  running(): readonly string[];
  /** Undefined for one that nobody has started, and for one that ended as it should. */
  stateOf(path: string): RunState | undefined;
}

/** A state in words. */
export function stateWords(state: RunState): string {
  return state.kind === 'failed' ? `failed (exit code ${state.exitCode ?? 'unknown'})` : state.kind;
}

/** Long enough for the sentence that is looked for. */
const KEPT = 200;

/**
 * Looks in what Gym writes for the sentence that its servers answer. Before it Gym installs the environments of the servers and
 * waits for them, which may take minutes.
 *
 * @returns takes the next piece, wherever it was cut, and tells whether the sentence has come
 */
export function watchForReady(): (piece: string) => boolean {
  let kept = '';
  return (piece) => {
    const text = kept + piece;
    kept = text.slice(-KEPT);
    return /\bAll \d+ \/ \d+ servers ready\b/.test(text);
  };
}

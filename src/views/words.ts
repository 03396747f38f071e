import type { RunStatus } from '../protocol/runSnapshot';

const WORDS: Record<RunStatus, string> = {
  submitting: 'submitting',
  pending: 'waiting for Ray',
  running: 'running',
  complete: 'complete',
  partial: 'partial',
  failed: 'failed',
  stopped: 'cancelled',
  lost: 'cluster lost',
};

/** A run's state inside a sentence or a list. */
export function stateInWords(status: RunStatus): string {
  return WORDS[status];
}

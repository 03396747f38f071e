import { type ErrorAction, UserError } from '../common/userError';

/**
 * What went wrong between us and Ray:
 * - `unreachable`: no answer, or one that broke off; Ray may still be running.
 * - `unauthorized`: Ray wants a token and got none; `forbidden`: it does not take the one it got.
 * - `not_found`: Ray does not know that job or package.
 * - `browser_blocked`: Ray took us for a web page.
 * - `no_agent`: the head node cannot take jobs, or not yet.
 * - `too_large`: the package is above Ray's limit.
 * - `server`: Ray refused or failed.
 * - `unexpected_answer`: whatever answered is not Ray, or a Ray that we do not know.
 */
export type RayErrorKind =
  | 'unreachable'
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'browser_blocked'
  | 'no_agent'
  | 'too_large'
  | 'server'
  | 'unexpected_answer';

/** A request to Ray that failed, in a sentence that helps. Holds no token and no environment variable of a job. */
export class RayError extends UserError {
  constructor(
    readonly kind: RayErrorKind,
    message: string,
    options?: ErrorOptions,
    actions: readonly ErrorAction[] = [],
  ) {
    super(message, actions, options);
  }
}

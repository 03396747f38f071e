/** One thing a person can do about an error, offered as a button. The id is a Shardboard command. */
export interface ErrorAction {
  readonly title: string;
  readonly command: string;
  readonly args?: readonly unknown[];
}

/**
 * An error that is meant for a person: the message says what happened, why, and what to do next.
 * Everything else that is thrown is a fault of ours and is shown as such.
 */
export class UserError extends Error {
  override readonly name = 'UserError';

  constructor(
    message: string,
    readonly actions: readonly ErrorAction[] = [],
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The plain sentence in anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Whether a file-system call failed with this code, for example `ENOENT`. */
export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

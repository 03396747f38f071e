import * as vscode from 'vscode';
import type { Runs } from '../benchmark/runs';
import { messageOf, UserError } from '../common/userError';
import { goesOn, type RunSnapshot, type RunStatus } from '../protocol/runSnapshot';
import { createRunNarrator } from './runNarrator';

/** What Ctrl+C sends. */
const INTERRUPT = '\x03';

/** For scripts and for tasks that depend on this one. */
const EXIT_CODES: Readonly<Partial<Record<RunStatus, number>>> = {
  complete: 0,
  partial: 3,
  failed: 4,
  stopped: 143,
  lost: 4,
};
const EXIT_NOT_SUBMITTED = 2;

export interface RunTerminalOptions {
  readonly runs: Pick<Runs, 'snapshot' | 'onDidChange' | 'cancel'>;
  /** Submits the run; gives its id. */
  readonly submit: () => Promise<string>;
  /** The title of a command, as the palette has it. */
  readonly titleOf: (command: string) => string | undefined;
}

/** A terminal that submits a run and tells its course in words, until it ends or the terminal is closed. */
export function createRunTerminal({ runs, submit, titleOf }: RunTerminalOptions): vscode.Pseudoterminal {
  const written = new vscode.EventEmitter<string>();
  const closed = new vscode.EventEmitter<number>();
  const narrate = createRunNarrator();
  let subscription: vscode.Disposable | undefined;
  let id: string | undefined;
  let isInterrupted = false;

  function say(text: string): void {
    written.fire(`${text.replaceAll('\n', '\r\n')}\r\n`);
  }

  function sayError(error: unknown): void {
    say(messageOf(error));
    const titles = error instanceof UserError ? error.actions.flatMap(({ command }) => titleOf(command) ?? []) : [];
    if (titles.length > 0) {
      say(`Commands that help: ${titles.map((title) => `"${title}"`).join(', ')}.`);
    }
  }

  async function run(): Promise<void> {
    try {
      say('Submitting the benchmark.');
      id = await submit();
    } catch (error) {
      sayError(error);
      closed.fire(EXIT_NOT_SUBMITTED);
      return;
    }
    say(`Submitted as ${id}. Ctrl+C cancels the run; closing this terminal does not.`);
    subscription = runs.onDidChange((changed) => {
      if (changed === id) {
        tell();
      }
    });
    tell();
    if (isInterrupted) {
      cancel();
    }
  }

  function tell(): void {
    const snapshot = id === undefined ? undefined : runs.snapshot(id);
    // Submitted it is; what was heard before that is no news here.
    if (!snapshot || !subscription || snapshot.status === 'submitting') {
      return;
    }
    const line = narrate(snapshot);
    if (line !== undefined) {
      say(line);
    }
    if (!goesOn(snapshot.status)) {
      end(snapshot);
    }
  }

  function end({ status, message, outputFolder }: RunSnapshot): void {
    subscription?.dispose();
    subscription = undefined;
    if (message !== null) {
      say(message);
    }
    say(`Results: ${outputFolder}`);
    closed.fire(EXIT_CODES[status] ?? EXIT_NOT_SUBMITTED);
  }

  function cancel(): void {
    isInterrupted = true;
    if (id !== undefined) {
      say('Cancelling the run.');
      runs.cancel(id).catch(sayError);
    }
  }

  return {
    onDidWrite: written.event,
    onDidClose: closed.event,
    open: () => void run(),
    close: () => subscription?.dispose(),
    handleInput(data) {
      if (data === INTERRUPT) {
        cancel();
      }
    },
  };
}

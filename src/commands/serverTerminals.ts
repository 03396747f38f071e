import { type ChildProcess, spawn } from 'node:child_process';
import * as vscode from 'vscode';
import { createDisposables, createEmitter, type Disposable } from '../common/emitter';
import { type RunningConfigurations, type RunState, watchForReady } from '../gym/runningConfigurations';
import type { ServerCommand } from '../gym/serverCommand';

export interface ServerStart {
  readonly command: ServerCommand;
  /** The configuration, by its path. */
  readonly configuration: string;
  readonly name: string;
  readonly folder: string;
  /** What Gym's environment has besides that of the editor; undefined for what it must not have. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The Gym servers that this window runs, each in a terminal of its own. */
export interface ServerTerminals extends RunningConfigurations, Disposable {
  /** Nothing when the configuration runs already. */
  start(start: ServerStart): void;
  /** Interrupts Gym; resolves when it has ended. */
  stop(configuration: string): Promise<void>;
}

interface Running {
  readonly ended: Promise<void>;
  readonly interrupt: () => void;
}

/** Between the lines of a program there is a line feed, between those of a terminal more than that. */
const toTerminal = (text: string): string => text.replace(/\r?\n/g, '\r\n');

const CONTROL_C = '\x03';

/** @param keeper the bundled program that keeps one Gym: serverKeeper.ts */
export function createServerTerminals(keeper: string): ServerTerminals {
  const disposables = createDisposables();
  const changed = disposables.add(createEmitter<void>());
  const running = new Map<string, Running>();
  const states = new Map<string, RunState>();
  /** The last terminal of each configuration, which shows what Gym has written after it has ended. */
  const terminals = new Map<string, vscode.Terminal>();

  const start = ({ command, configuration, name, folder, env }: ServerStart): void => {
    if (running.has(configuration)) {
      return;
    }
    terminals.get(configuration)?.dispose();
    const output = new vscode.EventEmitter<string>();
    let child: ChildProcess | undefined;
    let isInterrupted = false;
    let hasEnded = false;
    let markEnded: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => {
      markEnded = resolve;
    });
    const tell = (state: RunState | undefined): void => {
      if (state) {
        states.set(configuration, state);
      } else {
        states.delete(configuration);
      }
      changed.fire();
    };
    const finish = (code: number | null): void => {
      hasEnded = true;
      output.fire(toTerminal(`\n${endWords(code)}\n`));
      running.delete(configuration);
      markEnded();
      tell(isInterrupted || isWell(code) ? undefined : { kind: 'failed', exitCode: code ?? undefined });
    };
    const interrupt = (): void => {
      if (isInterrupted || hasEnded) {
        return;
      }
      isInterrupted = true;
      if (child) {
        tell({ kind: 'stopping' });
        // The end of its input is what the keeper stops at, whatever it is that ends it.
        child.stdin?.end();
      } else {
        // VS Code has not opened the terminal yet.
        finish(0);
      }
    };
    const open = (): void => {
      if (isInterrupted) {
        return;
      }
      output.fire(toTerminal(`${[command.program, ...command.args].join(' ')}\n\n`));
      child = spawn(process.execPath, [keeper, command.program, ...command.args], {
        cwd: folder,
        // Of the editor's program, only its Node.
        env: { ...process.env, ...env, ELECTRON_RUN_AS_NODE: '1' },
        stdio: ['pipe', 'pipe', 'pipe'],
      });
      for (const stream of [child.stdout, child.stderr]) {
        const isReady = watchForReady();
        stream?.setEncoding('utf8').on('data', (text: string) => {
          output.fire(toTerminal(text));
          if (isReady(text) && states.get(configuration)?.kind === 'starting') {
            tell({ kind: 'running' });
          }
        });
      }
      child.on('error', (error) => output.fire(toTerminal(`${error.message}\n`)));
      // It comes after an error too.
      child.on('close', finish);
    };
    const close = (): void => {
      interrupt();
      // What the terminal told of a failure is gone with it; one that was started anew has another.
      if (hasEnded && terminals.get(configuration) === terminal) {
        tell(undefined);
      }
    };
    const terminal = vscode.window.createTerminal({
      name,
      iconPath: new vscode.ThemeIcon('server-process'),
      pty: {
        onDidWrite: output.event,
        open,
        close,
        handleInput: (typed: string) => {
          if (typed === CONTROL_C) {
            output.fire('^C\r\n');
            interrupt();
          }
        },
      },
    });
    terminals.set(configuration, terminal);
    running.set(configuration, { ended, interrupt });
    terminal.show(true);
    tell({ kind: 'starting' });
  };

  return {
    onDidChange: changed.event,
    running: () => [...running.keys()],
    stateOf: (configuration) => states.get(configuration),
    start,
    async stop(configuration) {
      const entry = running.get(configuration);
      entry?.interrupt();
      await entry?.ended;
    },
    dispose() {
      for (const { interrupt } of running.values()) {
        interrupt();
      }
      disposables.dispose();
    },
  };
}

/** Whether Gym ended by itself, or of an interrupt. */
function isWell(code: number | null): boolean {
  return code === 0 || code === 130;
}

function endWords(code: number | null): string {
  if (isWell(code)) {
    return 'Gym has ended.';
  }
  return code === 127
    ? 'Gym was not started.'
    : `Gym has ended with an error (exit code ${code ?? 'unknown'}). The lines above say why.`;
}

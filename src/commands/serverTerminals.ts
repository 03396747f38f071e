import { type ChildProcess, spawn } from 'node:child_process';
import * as vscode from 'vscode';
import { createDisposables, createEmitter, type Disposable } from '../common/emitter';
import type { RunningConfigurations } from '../gym/runningConfigurations';
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
    let markEnded: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => {
      markEnded = resolve;
    });
    const finish = (words: string): void => {
      output.fire(toTerminal(`\n${words}\n`));
      running.delete(configuration);
      markEnded();
      changed.fire();
    };
    const interrupt = (): void => {
      if (!child && !isInterrupted) {
        // VS Code has not opened the terminal yet.
        finish(endWords(0));
      }
      isInterrupted = true;
      // The end of its input is what the keeper stops at, whatever it is that ends it.
      child?.stdin?.end();
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
        stream?.setEncoding('utf8').on('data', (text: string) => output.fire(toTerminal(text)));
      }
      child.on('error', (error) => output.fire(toTerminal(`${error.message}\n`)));
      // It comes after an error too.
      child.on('close', (code) => finish(endWords(code)));
    };
    const terminal = vscode.window.createTerminal({
      name,
      iconPath: new vscode.ThemeIcon('server-process'),
      pty: {
        onDidWrite: output.event,
        open,
        close: interrupt,
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
    changed.fire();
  };

  return {
    onDidChange: changed.event,
    running: () => [...running.keys()],
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

function endWords(code: number | null): string {
  switch (code) {
    case 0:
    case 130:
      return 'Gym has ended.';
    case 127:
      return 'Gym was not started.';
    default:
      return `Gym has ended with an error (exit code ${code ?? 'unknown'}). The lines above say why.`;
  }
}

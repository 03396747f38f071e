import { type ChildProcess, spawn } from 'node:child_process';
import * as vscode from 'vscode';
import { createDisposables, createEmitter, type Disposable, type Event } from '../common/emitter';
import type { ServerCommand } from '../gym/serverCommand';

export interface ServerStart {
  readonly command: ServerCommand;
  /** The configuration, by its path. */
  readonly configuration: string;
  readonly name: string;
  readonly folder: string;
  /** What Gym's environment has besides that of the editor. */
  readonly env: Readonly<Record<string, string>>;
}

/** The Gym servers that this window runs, each in a terminal of its own. */
export interface ServerTerminals extends Disposable {
  readonly onDidChange: Event<void>;
  /** The paths of the configurations that run. */
  running(): readonly string[];
  start(start: ServerStart): void;
  /** Interrupts Gym; resolves when it has ended. */
  stop(configuration: string): Promise<void>;
}

interface Running {
  readonly terminal: vscode.Terminal;
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

  const start = ({ command, configuration, name, folder, env }: ServerStart): void => {
    const output = new vscode.EventEmitter<string>();
    let child: ChildProcess | undefined;
    let markEnded: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => {
      markEnded = resolve;
    });
    // The end of its input is what the keeper stops at, whatever it is that ends it.
    const interrupt = (): void => void child?.stdin?.end();
    const finish = (words: string): void => {
      output.fire(toTerminal(`\n${words}\n`));
      running.delete(configuration);
      markEnded();
      changed.fire();
    };
    const open = (): void => {
      output.fire(toTerminal(`${[command.program, ...command.args].join(' ')}\n\n`));
      child = spawn(process.execPath, [keeper, command.program, ...command.args], {
        cwd: folder,
        // Of the editor, only its Node; Python writes as it goes, in colours, although it writes into a pipe.
        env: { ...process.env, ELECTRON_RUN_AS_NODE: '1', PYTHONUNBUFFERED: '1', FORCE_COLOR: '1', ...env },
        stdio: ['pipe', 'pipe', 'pipe'],
      });
      for (const stream of [child.stdout, child.stderr]) {
        stream?.setEncoding('utf8').on('data', (text: string) => output.fire(toTerminal(text)));
      }
      child.on('error', (error) => finish(`Gym could not be started: ${error.message}`));
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
    running.set(configuration, { terminal, ended, interrupt });
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

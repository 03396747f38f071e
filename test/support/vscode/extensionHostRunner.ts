/**
 * Runs inside the extension host in place of the real tests, which it then calls. It sends what they print to a file
 * that the shim follows (the workbench would mix it with its own log), and leaves their outcome in another: the exit
 * code that the workbench reports is 0 even when the extension host dies in the middle.
 */
import { appendFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Writable } from 'node:stream';
import { format } from 'node:util';
import { variables } from './shimVariables';

export async function run(): Promise<void> {
  const output = required(variables.output);
  const outcome = required(variables.outcome);
  redirect((text) => appendFileSync(output, text));
  try {
    const tests: { run(): Promise<void> } = createRequire(__filename)(required(variables.tests));
    await tests.run();
    writeFileSync(outcome, 'passed');
  } catch (error) {
    console.error(error);
    writeFileSync(outcome, 'failed');
    throw error;
  }
}

function required(name: string): string {
  const value = process.env[name];
  if (value === undefined) {
    throw new Error(`The variable ${name} is not set.`);
  }
  return value;
}

function redirect(write: (text: string) => void): void {
  // VS Code defines all of these as accessors that ignore an assignment; only a definition replaces them.
  const define = (target: object, name: string, value: unknown): void => {
    Object.defineProperty(target, name, { value, configurable: true, writable: true });
  };
  for (const name of ['log', 'info', 'warn', 'error', 'debug']) {
    define(console, name, (...args: unknown[]) => write(`${format(...args)}\n`));
  }
  for (const [name, fd] of [
    ['stdout', 1],
    ['stderr', 2],
  ] as const) {
    const stream = new Writable({
      decodeStrings: false,
      write(chunk, _encoding, done) {
        write(String(chunk));
        done();
      },
    });
    define(process, name, Object.assign(stream, { fd, isTTY: false }));
  }
}

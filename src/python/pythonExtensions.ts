import * as v from 'valibot';
import { createDisposables, createEmitter, type Disposable, type Event } from '../common/emitter';
import { messageOf } from '../common/userError';
import type { ExtensionAnswer } from './chooseInterpreter';

/** What VS Code tells of another extension. What that exports can be read only when it is active. */
export interface OtherExtension {
  readonly exports: unknown;
  activate(): PromiseLike<unknown>;
}

/** VS Code's Python extensions, both optional. None is activated before `ask`. */
export interface PythonExtensions extends Disposable {
  /** Fires when another interpreter is chosen there. */
  readonly onDidChange: Event<void>;
  /**
   * The interpreter that is chosen for a resource. Never throws, and takes a few seconds at most.
   *
   * @param resource a URI of VS Code's: without one, another folder's interpreter would be the answer
   */
  ask(resource: unknown): Promise<ExtensionAnswer>;
}

/** Some Python extensions take a minute until they are there. */
const PATIENCE_MS = 5000;

const AnyFunction = v.function();
const isText = v.pipe(v.string(), v.nonEmpty());

/** ms-python.vscode-python-envs. Its exports are undefined when the setting `python.useEnvironmentsExtension` turns it off. */
const EnvironmentsApi = v.object({ getEnvironment: AnyFunction, onDidChangeEnvironment: AnyFunction });
const Environment = v.object({
  execInfo: v.object({ run: v.object({ executable: isText, args: v.optional(v.array(v.string())) }) }),
});

/** ms-python.python. */
const PythonApi = v.object({
  environments: v.object({
    getActiveEnvironmentPath: AnyFunction,
    resolveEnvironment: AnyFunction,
    onDidChangeActiveEnvironmentPath: AnyFunction,
  }),
});
const Resolved = v.object({ executable: v.object({ uri: v.optional(v.object({ fsPath: isText })) }) });

interface Source {
  readonly id: string;
  /** As in "from the Python extension". */
  readonly name: string;
  /** The interpreter's path; undefined when none is chosen, or this extension is turned off. */
  ask(exports: unknown, resource: unknown): Promise<string | undefined>;
  listen(exports: unknown, listener: () => void): unknown;
}

const sources: readonly Source[] = [
  {
    id: 'ms-python.vscode-python-envs',
    name: 'the Python Environments extension',
    async ask(exports, resource) {
      if (exports === undefined) {
        return undefined;
      }
      // Called on what was exported: these are methods, which a copy of the object would break.
      const answer = await v.parse(EnvironmentsApi, exports).getEnvironment.call(exports, resource);
      if (answer === undefined) {
        return undefined;
      }
      const { executable, args = [] } = v.parse(Environment, answer).execInfo.run;
      // With arguments it is no interpreter but a program that finds one, such as `conda run`.
      return args.length === 0 ? executable : undefined;
    },
    listen: (exports, listener) =>
      exports === undefined
        ? undefined
        : v.parse(EnvironmentsApi, exports).onDidChangeEnvironment.call(exports, listener),
  },
  {
    id: 'ms-python.python',
    name: 'the Python extension',
    async ask(exports, resource) {
      const { environments } = v.parse(v.object({ environments: v.unknown() }), exports);
      const api = v.parse(PythonApi, exports).environments;
      const active = await api.getActiveEnvironmentPath.call(environments, resource);
      const resolved = await api.resolveEnvironment.call(environments, active);
      return resolved === undefined ? undefined : v.parse(Resolved, resolved).executable.uri?.fsPath;
    },
    listen(exports, listener) {
      const { environments } = v.parse(v.object({ environments: v.unknown() }), exports);
      return v.parse(PythonApi, exports).environments.onDidChangeActiveEnvironmentPath.call(environments, listener);
    },
  },
];

/**
 * @param find the extension of an id; undefined when it is not installed, or turned off
 * @param patienceMs how long an extension may take to answer
 */
export function createPythonExtensions(
  find: (id: string) => OtherExtension | undefined,
  patienceMs = PATIENCE_MS,
): PythonExtensions {
  const disposables = createDisposables();
  const changed = disposables.add(createEmitter<void>());
  const heard = new Set<string>();

  const listen = (source: Source, extension: OtherExtension): void => {
    if (heard.has(source.id)) {
      return;
    }
    heard.add(source.id);
    const subscription = source.listen(extension.exports, () => changed.fire());
    if (v.is(v.object({ dispose: AnyFunction }), subscription)) {
      disposables.add({ dispose: () => void subscription.dispose() });
    }
  };

  const askOne = async (source: Source, extension: OtherExtension, resource: unknown): Promise<string | undefined> => {
    const began = Date.now();
    await extension.activate();
    listen(source, extension);
    if (Date.now() - began > patienceMs) {
      // Nobody waits any more; who asks again now gets the answer.
      changed.fire();
    }
    return await source.ask(extension.exports, resource);
  };

  return {
    onDidChange: changed.event,
    async ask(resource) {
      const notes: string[] = [];
      for (const source of sources) {
        const extension = find(source.id);
        if (!extension) {
          continue;
        }
        try {
          const path = await within(askOne(source, extension, resource), patienceMs);
          if (path === TOO_LATE) {
            notes.push(`${upper(source.name)} did not answer within ${patienceMs / 1000} s, and was not waited for.`);
          } else if (path !== undefined) {
            return { chosen: { path, from: source.name }, notes };
          }
        } catch (error) {
          notes.push(`${upper(source.name)} could not be asked: ${messageOf(error)}`);
        }
      }
      return { notes };
    },
    dispose: () => disposables.dispose(),
  };
}

const TOO_LATE = Symbol('too late');

async function within<T>(promise: Promise<T>, limitMs: number): Promise<T | typeof TOO_LATE> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<typeof TOO_LATE>((resolve) => {
    timer = setTimeout(() => resolve(TOO_LATE), limitMs);
  });
  try {
    return await Promise.race([promise, limit]);
  } finally {
    clearTimeout(timer);
  }
}

function upper(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { request } from 'undici';
import * as v from 'valibot';
import { createEmitter, type Disposable, type Event } from '../common/emitter';
import { readFileIfThere, writeFileAtomic } from '../common/files';
import { UserError } from '../common/userError';

/** The model id that the practice model answers to. */
export const PRACTICE_MODEL_ID = 'practice';

/** A practice model nobody has asked for this long ends by itself, in seconds: it outlives reloads and must not outlive its use. */
const IDLE_EXIT_S = 600;

const announcement = v.object({
  url: v.pipe(v.string(), v.url()),
  pid: v.pipe(v.number(), v.integer(), v.minValue(1)),
});
type Announcement = v.InferOutput<typeof announcement>;

export interface PracticeModel extends Disposable {
  /** Its address, `http://127.0.0.1:PORT/v1`, while it runs. */
  url(): string | undefined;
  readonly onDidChange: Event<void>;
  /** Starts it, or finds the one that runs; gives its address. */
  start(settings: { readonly latencyMs: number; readonly rightShare: number }): Promise<string>;
  stop(): Promise<void>;
  /** Forgets what was asked, so that a run is answered as any run after a reset. */
  reset(): Promise<void>;
  /** Finds one that an earlier window started. */
  restore(): Promise<void>;
}

/**
 * The endpoint of the samples: a process of its own, so that a run goes on while the window reloads.
 *
 * @param options `script` is the practice model's file, `node` an executable that runs it, `recordFile` where it is remembered.
 */
export function createPracticeModel(options: {
  readonly script: string;
  readonly node: string;
  readonly storageFolder: string;
}): PracticeModel {
  const recordFile = join(options.storageFolder, 'practice-model.json');
  const changed = createEmitter<void>();
  let running: Announcement | undefined;

  function set(next: Announcement | undefined): void {
    running = next;
    changed.fire();
  }

  async function restore(): Promise<void> {
    const text = await readFileIfThere(recordFile);
    const parsed = text === undefined ? undefined : v.safeParse(v.pipe(v.string(), v.parseJson(), announcement), text);
    if (parsed?.success && (await answers(parsed.output))) {
      set(parsed.output);
    } else {
      set(undefined);
    }
  }

  return {
    url: () => running?.url,
    onDidChange: changed.event,
    restore,
    async start(settings) {
      await restore();
      if (running) {
        return running.url;
      }
      const started = await launch(options.node, [
        options.script,
        '--port=0',
        `--latency=${settings.latencyMs}`,
        `--right-share=${settings.rightShare}`,
        `--idle-exit=${IDLE_EXIT_S}`,
      ]);
      await writeFileAtomic(recordFile, JSON.stringify(started));
      set(started);
      return started.url;
    },
    async stop() {
      await restore();
      if (running) {
        // Only after it has just answered at its own address: a pid alone may belong to somebody else by now.
        process.kill(running.pid, 'SIGTERM');
        await rm(recordFile, { force: true });
        set(undefined);
      }
    },
    async reset() {
      if (running) {
        const { body } = await request(new URL('/reset', running.url), { method: 'POST' });
        await body.dump();
      }
    },
    dispose: () => changed.dispose(),
  };
}

async function answers(model: Announcement): Promise<boolean> {
  try {
    const { statusCode, body } = await request(new URL('/stats', model.url), {
      headersTimeout: 2000,
      bodyTimeout: 2000,
    });
    const stats = v.safeParse(v.looseObject({ pid: v.number() }), await body.json());
    return statusCode === 200 && stats.success && stats.output.pid === model.pid;
  } catch {
    return false;
  }
}

async function launch(node: string, args: readonly string[]): Promise<Announcement> {
  const child = spawn(node, args, {
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
    // Desktop VS Code's executable is Electron, and runs as plain Node only when told so.
    env: { ...process.env, ELECTRON_RUN_AS_NODE: '1' },
  });
  const lines = createInterface({ input: child.stdout });
  const line = await Promise.race([
    once(lines, 'line').then(([first]) => String(first)),
    once(child, 'exit').then(([code]) => `it ended with exit code ${code}`),
    once(child, 'error').then(([error]) => String(error)),
  ]);
  lines.close();
  child.stdout.destroy();
  child.unref();
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), announcement), line);
  if (!parsed.success) {
    throw new UserError(`The practice model could not be started: ${line}.`);
  }
  return parsed.output;
}

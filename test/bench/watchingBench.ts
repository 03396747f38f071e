/**
 * `npm run bench -- watching`: what an extension host costs with a cluster up that nobody looks at, beside the same host
 * without Shardboard, over the same time, in a real VS Code.
 */
import { randomUUID } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { copySamples } from '../support/samplesCopy';
import { testPython } from '../support/testPython';
import { type CodeWindow, openWindow } from '../support/vscode/window';

const SECONDS = Number(process.env.BENCH_SECONDS ?? 120);
/** Until what belongs to opening a window and starting Ray is over. */
const SETTLE_SECONDS = Math.min(60, SECONDS);
const TURNS = 2;
const TICKS_PER_SECOND = 100;

interface Cost {
  /** Milliseconds of processor time a second. */
  readonly cpu: number;
  /** MiB that would be free without this process. */
  readonly memory: number;
}

async function main(): Promise<void> {
  if (process.platform !== 'linux') {
    throw new Error('This bench reads /proc, which only Linux has.');
  }
  const without = await inWindow(undefined, async (_window, host) => {
    await wait(SETTLE_SECONDS * 1000);
    return await costOf(host, SECONDS);
  });
  print('without Shardboard', without);
  await inWindow(join(process.cwd(), 'shardboard.vsix'), async (window, host) => {
    await window.runCommand('Shardboard: Start Local Ray Cluster');
    await window.statusBarItem(/Ray: .* CPUs?/).waitFor({ timeout: 180_000 });
    // Another container, so that the tree is hidden.
    await window.openActivity('Explorer');
    try {
      await wait(SETTLE_SECONDS * 1000);
      // In turns, so that what the host does besides falls on both.
      const hidden: Cost[] = [];
      const background: Cost[] = [];
      for (let turn = 0; turn < TURNS; turn += 1) {
        await focus(window, true);
        hidden.push(await costOf(host, SECONDS / TURNS));
        await focus(window, false);
        background.push(await costOf(host, SECONDS / TURNS));
      }
      print('with Shardboard, cluster up, tree hidden', meanOf(hidden), without);
      print('the same, with the window in the background', meanOf(background), without);
    } finally {
      await window.runCommand('Shardboard: Stop Ray Cluster');
      await window.statusBarItem('Ray: off').waitFor({ timeout: 120_000 });
    }
  });
}

async function inWindow<T>(
  vsix: string | undefined,
  work: (window: CodeWindow, extensionHost: number) => Promise<T>,
): Promise<T> {
  const samples = await copySamples();
  const mark = randomUUID();
  await writeFile(
    join(samples.folder, '.vscode', 'settings.json'),
    JSON.stringify({ 'shardboard.pythonPath': testPython() }),
  );
  const window = await openWindow({
    folder: samples.folder,
    env: { SHARDBOARD_BENCH_MARK: mark },
    ...(vsix === undefined ? {} : { vsix }),
  });
  try {
    await window.quickOpen('gym/with_ray.py');
    return await work(window, await extensionHostOf(mark));
  } finally {
    await window.close();
    await samples.remove();
  }
}

/** The extension host among the processes whose environment has the mark. */
async function extensionHostOf(mark: string): Promise<number> {
  for (;;) {
    for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
      const [commandLine, environment] = await Promise.all(
        ['cmdline', 'environ'].map((file) => readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '')),
      );
      if (commandLine?.includes('--type=extensionHost') && environment?.includes(mark)) {
        return Number(pid);
      }
    }
    await wait(200);
  }
}

/** The page believes that it has the focus as long as nothing says otherwise. */
async function focus(window: CodeWindow, has: boolean): Promise<void> {
  await window.page.evaluate(
    `document.hasFocus = () => ${has}; window.dispatchEvent(new Event('${has ? 'focus' : 'blur'}'))`,
  );
}

function meanOf(costs: readonly Cost[]): Cost {
  const mean = (part: (cost: Cost) => number): number =>
    costs.reduce((sum, cost) => sum + part(cost), 0) / costs.length;
  return { cpu: mean(({ cpu }) => cpu), memory: mean(({ memory }) => memory) };
}

async function costOf(pid: number, seconds: number): Promise<Cost> {
  const before = await processorTime(pid);
  await wait(seconds * 1000);
  const cpu = (await processorTime(pid)) - before;
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8');
  const [, pss] = /^Pss:\s+(\d+) kB/m.exec(rollup) ?? [];
  return { cpu: cpu / seconds, memory: Number(pss) / 1024 };
}

/** Milliseconds since the process began. */
async function processorTime(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  // The name of the program, in brackets, may hold spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_PER_SECOND;
}

function print(name: string, cost: Cost, without?: Cost): void {
  const beside = without
    ? ` (${signed(cost.cpu - without.cpu, 2)} ms/s, ${signed(cost.memory - without.memory, 1)} MiB)`
    : '';
  console.log(
    `${name}: ${cost.cpu.toFixed(2)} ms of processor time a second, ${cost.memory.toFixed(1)} MiB${beside}, over ${SECONDS} s`,
  );
}

function signed(difference: number, digits: number): string {
  return `${difference < 0 ? '-' : '+'}${Math.abs(difference).toFixed(digits)}`;
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});

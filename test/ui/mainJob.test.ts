/**
 * The main job as a person does it, in a real VS Code with the packed extension, on a real Ray cluster with the real
 * evaluator: from the code lens of a sample server to the merged score, a reload in the middle of a second run, its
 * cancel, and a stopped cluster that leaves nothing behind.
 */
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Frame } from 'playwright-core';
import { createPracticeModel, PRACTICE_MODEL_ID } from '../../src/benchmark/practiceModel';
import { projectRoot } from '../support/projectRoot';
import { testPython } from '../support/testPython';
import { type CodeWindow, openWindow } from '../support/vscode/window';

const SHARDS = 8;
const REPEATS = 2;
/** Enough that the second run still goes on when the slowest machine has reloaded the window: it is cancelled. */
const MANY_REPEATS = 40;
const PROBLEMS = 1319;
/** Slow enough that each shard is seen on its way: a person's model is slower. */
const LATENCY_MS = 400;
const RIGHT_SHARE = 0.7;
/** What Ray and the runs leave when they are not ended. */
const OURS = /raylet|gcs_server|ray::|ray-dashboard|ray\/dashboard|shardboard_driver|practice_model/;

let folder: string;
let samples: string;
let pictures: string;
let window: CodeWindow;
let processesBefore: Set<string>;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'main-'));
  samples = join(folder, 'samples');
  pictures = join(projectRoot, 'test-results', 'main-job');
  await rm(pictures, { recursive: true, force: true });
  await mkdir(pictures, { recursive: true });
  await cp(join(projectRoot, 'samples'), samples, {
    recursive: true,
    filter: (path) => !path.endsWith('shardboard-results'),
  });
  await writeFile(join(samples, '.vscode', 'settings.json'), JSON.stringify({ 'shardboard.pythonPath': testPython() }));
  processesBefore = new Set(ourProcesses());
  window = await openWindow({
    folder: samples,
    vsix: join(projectRoot, 'shardboard.vsix'),
    settings: {
      'shardboard.practiceModel.latency': LATENCY_MS,
      'shardboard.practiceModel.rightShare': RIGHT_SHARE,
    },
  });
});

after(async () => {
  await window?.close();
  await rm(folder, { recursive: true, force: true, maxRetries: 10 });
});

test('the main job', { timeout: 15 * 60_000 }, async (main) => {
  const step = async (name: string, work: () => Promise<void>): Promise<void> => {
    let failure: unknown;
    await main.test(name, async () => {
      try {
        await work();
      } catch (error) {
        failure = error;
        await window.screenshot(join(pictures, `failed ${name}.png`));
        throw error;
      }
    });
    // Each step stands on the one before.
    if (failure) {
      throw failure;
    }
  };

  await step('a sample server file shows what it says about Ray', async () => {
    await window.quickOpen('gym/with_ray.py');
    await window.codeLens('Ray: on').waitFor();
    await window.codeLens('Start Ray').waitFor();
    await window.screenshot(join(pictures, 'code lens.png'));
  });

  await step('the code lens starts a cluster', async () => {
    await window.codeLens('Start Ray').click();
    await window.statusBarItem(/Ray: .* CPUs?/).waitFor({ timeout: 180_000 });
    await window.codeLens('Open Ray cluster').click();
    await window.treeRow('Cluster', 'Local Ray cluster').waitFor();
    await window.treeRow('Cluster', 'head').waitFor();
  });

  await step('a benchmark is submitted from the command palette', async () => {
    await window.runCommand('Shardboard: Submit Sharded Benchmark');
    await question(1);
    await window.pick('word_problems');
    await question(2);
    await window.answer(String(SHARDS));
    await question(3);
    await window.answer(String(REPEATS));
    await question(4);
    await window.pick('Practice model');
    await question(5);
    await window.answer(PRACTICE_MODEL_ID);
    await question(6);
    await window.pick('No key');
    await question(7);
    await window.pick('Submit');
  });

  let page: Frame;
  await step('each shard is seen on its way, and the merged score so far', async () => {
    page = await resultsPage();
    await watchToTheEnd(page);
  });

  await step('the page, the bundle and an unsharded run say the same', async () => {
    const [runFolder] = await readdir(join(samples, 'shardboard-results'));
    const bundle = await onlyBundle(join(samples, 'shardboard-results', runFolder ?? ''));
    assert.deepEqual([bundle.n_results, bundle.benchmark.samples], [PROBLEMS * REPEATS, PROBLEMS]);
    const ofBundle = bundle.benchmark.scores['pass@1'];
    assert.deepEqual(await finalScore(page, 'pass@1'), {
      value: ofBundle?.value,
      ci: [ofBundle?.ci_lower, ofBundle?.ci_upper],
      bootstrap: [ofBundle?.bootstrap_ci_lower, ofBundle?.bootstrap_ci_upper],
    });
    const unsharded = (await unshardedBundle()).benchmark.scores['pass@1'];
    assert.deepEqual(
      [ofBundle?.value, ofBundle?.ci_lower, ofBundle?.ci_upper],
      [unsharded?.value, unsharded?.ci_lower, unsharded?.ci_upper],
    );
    // The practice model is right for an exact share.
    assert.equal(ofBundle?.value, Number((Math.round(RIGHT_SHARE * PROBLEMS) / PROBLEMS).toFixed(4)));
  });

  await step('it looks like part of VS Code in every theme', async () => {
    for (const theme of ['light', 'dark', 'high contrast'] as const) {
      await window.setTheme(theme);
      await window.screenshot(join(pictures, `complete, ${theme}.png`));
    }
    await window.setTheme('light');
  });

  await step('a second run takes the remembered answers, survives a reload, and goes on', async () => {
    await window.runCommand('Shardboard: Submit Sharded Benchmark');
    await question(1);
    await window.page.keyboard.press('Enter');
    await question(2);
    await window.page.keyboard.press('Enter');
    await question(3);
    assert.equal(await window.question.locator('input').first().inputValue(), String(REPEATS));
    await window.answer(String(MANY_REPEATS));
    for (const number of [4, 5]) {
      await question(number);
      await window.page.keyboard.press('Enter');
    }
    await question(6);
    await window.pick('No key');
    await question(7);
    // The first run has told how large the benchmark is, and how long it takes.
    await window.question.getByText(`${(PROBLEMS * MANY_REPEATS).toLocaleString('en')} calls`).waitFor();
    await window.question.getByText(/judging by the last run/).waitFor();
    await window.page.keyboard.press('Enter');
    page = await resultsPage('running');
    // Which shards get the two workers first is up to Ray.
    await page.locator('[data-testid^="shard-"][data-phase="running"]').first().waitFor();
    const beforeReload = await answered(page);
    await window.reload();
    page = await resultsPage('running');
    await page.waitForFunction(
      (least) =>
        [...document.querySelectorAll('[data-testid^="shard-"]')].reduce(
          (sum, row) => sum + Number(row.getAttribute('data-done')),
          0,
        ) > least,
      beforeReload,
    );
    assert.deepEqual(await shardTotals(page), expectedTotals(MANY_REPEATS));
  });

  await step('it is cancelled after a question, and says so', async () => {
    await window.runCommand('Shardboard: Cancel Run');
    await window.button(window.dialog('Cancel word_problems · practice'), 'Cancel run').click();
    await page.locator('[data-testid="run-status"][data-status="stopped"]').waitFor();
    assert.equal(await page.locator('[data-phase="running"]').count(), 0);
  });

  await step('the cluster is stopped', async () => {
    await window.runCommand('Shardboard: Stop Ray Cluster');
    await window.statusBarItem('Ray: off').waitFor({ timeout: 120_000 });
    await window.treeRow('Cluster', 'Local Ray cluster').waitFor({ state: 'hidden' });
  });

  await step('no process is left', async () => {
    await window.runCommand('Shardboard: Start or Stop Practice Model');
    await window.toast('The practice model has stopped').waitFor();
    const deadline = Date.now() + 60_000;
    while (newProcesses().length > 0 && Date.now() < deadline) {
      await wait(200);
    }
    assert.deepEqual(newProcesses(), []);
  });
});

/** Waits for the question with this number: filling in the one before would answer it twice. */
async function question(number: number): Promise<void> {
  await window.question.filter({ hasText: `(${number}/7)` }).waitFor();
}

/** The results page in the editor area. */
async function resultsPage(status?: string): Promise<Frame> {
  const state = status === undefined ? '' : `[data-status="${status}"]`;
  return await window.webview(`body[data-place="panel"] [data-testid="run-status"]${state}`);
}

/** Watches a run to its end; asserts that every shard was seen at work, with a merged score beside it. */
async function watchToTheEnd(page: Frame): Promise<void> {
  const seen = Array.from({ length: SHARDS }, () => new Set<number>());
  const scores = new Set<string>();
  let pictured = false;
  for (;;) {
    const look = await page.evaluate(() => ({
      status: document.querySelector('[data-testid="run-status"]')?.getAttribute('data-status') ?? '',
      words: document.querySelector('[data-testid="run-status"]')?.textContent ?? '',
      score: document.querySelector('[data-testid="merged-score"]')?.getAttribute('data-value') ?? '',
      shards: [...document.querySelectorAll('[data-testid^="shard-"]')].map((row) => ({
        done: Number(row.getAttribute('data-done')),
        total: Number(row.getAttribute('data-total')),
      })),
    }));
    for (const [index, { done, total }] of look.shards.entries()) {
      if (done > 0 && done < total) {
        seen[index]?.add(done);
        scores.add(look.score);
      }
    }
    if (look.status === 'complete') {
      break;
    }
    const done = look.shards.reduce((sum, shard) => sum + shard.done, 0);
    if (!pictured && done > (PROBLEMS * REPEATS) / 2) {
      pictured = true;
      await window.screenshot(join(pictures, 'running.png'));
    }
    assert.ok(['submitting', 'pending', 'running'].includes(look.status), `the run is ${look.status}: ${look.words}`);
    await wait(100);
  }
  assert.deepEqual(await shardTotals(page), expectedTotals(REPEATS));
  assert.ok(
    seen.every((states) => states.size >= 3),
    `states seen of each shard: ${seen.map((states) => states.size).join(', ')}`,
  );
  assert.ok(scores.size >= 3, 'the merged score was hardly ever shown while the run went on');
}

function expectedTotals(repeats: number): number[] {
  // As the evaluator shares out: the first shards take one position more.
  return Array.from(
    { length: SHARDS },
    (_, index) => (Math.floor(PROBLEMS / SHARDS) + (index < PROBLEMS % SHARDS ? 1 : 0)) * repeats,
  );
}

async function shardTotals(page: Frame): Promise<number[]> {
  const totals = page
    .locator('[data-testid^="shard-"]')
    .evaluateAll((rows) => rows.map((row) => Number(row.getAttribute('data-total'))));
  return await totals;
}

async function answered(page: Frame): Promise<number> {
  const done = await page
    .locator('[data-testid^="shard-"]')
    .evaluateAll((rows) => rows.map((row) => Number(row.getAttribute('data-done'))));
  return done.reduce((sum, count) => sum + count, 0);
}

async function finalScore(page: Frame, metric: string): Promise<{ value: number; ci: number[]; bootstrap: number[] }> {
  const row = page.locator(`[data-testid="final-score-${metric}"]`);
  const interval = async (kind: string): Promise<number[]> => {
    const cell = row.locator(`[data-interval="${kind}"]`);
    return [Number(await cell.getAttribute('data-lower')), Number(await cell.getAttribute('data-upper'))];
  };
  return {
    value: Number(await row.getAttribute('data-value')),
    ci: await interval('ci'),
    bootstrap: await interval('bootstrap'),
  };
}

interface Bundle {
  readonly n_results: number;
  readonly benchmark: {
    readonly samples: number;
    readonly scores: Readonly<Record<string, Readonly<Record<string, number>> | undefined>>;
  };
}

async function onlyBundle(runFolder: string): Promise<Bundle> {
  const bundles = (await readdir(runFolder)).filter((name) => /^eval-.*\.json$/.test(name));
  assert.equal(bundles.length, 1, `bundles in the run's folder: ${bundles.join(', ')}`);
  return JSON.parse(await readFile(join(runFolder, bundles[0] ?? ''), 'utf8'));
}

/** The evaluator's own unsharded run of the same benchmark, against a practice model that is right for the same problems. */
async function unshardedBundle(): Promise<Bundle> {
  const model = createPracticeModel({
    script: join(projectRoot, 'samples', 'practice_model.mjs'),
    node: process.execPath,
    storageFolder: folder,
  });
  const output = join(folder, 'unsharded');
  try {
    const url = await model.start({ latencyMs: 0, rightShare: RIGHT_SHARE });
    await promisify(execFile)(testPython(), [
      join(projectRoot, 'driver', 'tests', 'unsharded.py'),
      ...['--benchmark', `${join(samples, 'benchmarks', 'word_problems.py')}:word_problems`],
      ...['--repeats', String(REPEATS), '--model-url', url, '--model-id', PRACTICE_MODEL_ID, '--output', output],
    ]);
  } finally {
    await model.stop();
  }
  return await onlyBundle(output);
}

/** Processes of Ray, of runs and of practice models that this test ring started and that have not ended. */
function ourProcesses(): string[] {
  const lines = execFileSync('ps', ['-A', '-o', 'stat=,pid=,args='], { encoding: 'utf8' }).split('\n');
  return (
    lines
      .map((line) => line.trim())
      // A zombie has ended; how soon it is taken off the list is up to the machine's init.
      .filter((line) => OURS.test(line) && !line.startsWith('Z'))
      .map((line) => line.replace(/^\S+\s+/, ''))
      .filter((line) => isOfThisRing(line.split(' ')[0] ?? ''))
  );
}

/** Others may have a Ray of their own on this machine. Where a process's variables cannot be read, it counts as ours. */
function isOfThisRing(pid: string): boolean {
  const mark = process.env.SHARDBOARD_TEST_RING;
  try {
    return mark === undefined || readFileSync(`/proc/${pid}/environ`, 'utf8').includes(mark);
  } catch {
    return process.platform !== 'linux';
  }
}

function newProcesses(): string[] {
  return ourProcesses().filter((line) => !processesBefore.has(line));
}

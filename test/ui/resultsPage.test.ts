import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Browser, Locator } from 'playwright-core';
import type { RunSnapshot } from '../../src/protocol/runSnapshot';
import { projectRoot } from '../support/projectRoot';
import { SAMPLE_NOW, sampleRun, sampleRuns, sampleShard } from '../support/sampleRuns';
import { launchBrowser } from '../support/vscode/browser';
import { type OpenPage, openPage, type PageLook, type PageServer, servePage } from './pageHarness';
import type { ThemeName } from './pageHarnessThemes';

const pictures = join(projectRoot, 'test-results', 'results-page');

let server: PageServer;
let browser: Browser;

before(async () => {
  await mkdir(pictures, { recursive: true });
  server = await servePage(join(projectRoot, 'dist'));
  browser = await launchBrowser();
});

after(async () => {
  await browser?.close();
  await server?.close();
});

/** Opens the page, and at the end finds that nothing went wrong in it. */
async function withPage(look: Partial<PageLook>, use: (open: OpenPage) => Promise<void>): Promise<void> {
  const open = await openPage(browser, server, {
    theme: 'dark',
    width: 1200,
    height: 850,
    place: 'panel',
    now: SAMPLE_NOW,
    ...look,
  });
  try {
    await use(open);
    assert.deepEqual(open.faults, []);
  } finally {
    await open.page.context().close();
  }
}

async function draw({ page, send }: OpenPage, run: RunSnapshot | null): Promise<void> {
  await send(run);
  await page
    .locator(run === null ? '[data-testid="no-run"]' : `[data-testid="run-status"][data-status="${run.status}"]`)
    .waitFor();
}

/** The text of an element as it is read, whatever the line breaks of its template. */
async function textOf(locator: Locator): Promise<string> {
  return ((await locator.textContent()) ?? '').trim();
}

for (const [width, place] of [
  [200, 'view'],
  [260, 'view'],
  [700, 'panel'],
  [1400, 'panel'],
] as const) {
  test(`nothing is wider than ${width} px`, () =>
    withPage({ width, place }, async (open) => {
      const long = 'an_unbreakable_name_'.repeat(20);
      const wide = sampleRun(
        [
          sampleShard(0, 100_000, {
            index: 999,
            start: 1_000_000,
            end: 1_100_000,
            total: 1_000_000,
            message: long,
            phase: 'failed',
          }),
        ],
        {
          benchmark: long,
          modelId: long,
          clusterName: long,
          message: long,
          outputFolder: `/${long}`,
          bundlePath: `/${long}.json`,
          scores: { [long]: { value: 0.5, ci_lower: 0.4, ci_upper: 0.6 }, 'pass@1': { value: 0.5 } },
          categories: { [long]: { mean_reward: 0.5, n: 1_000_000 } },
        },
      );
      for (const run of [...Object.values(sampleRuns), wide]) {
        await draw(open, run);
        const tooWide = await open.page.evaluate(() => {
          const root = document.documentElement;
          return root.scrollWidth - root.clientWidth;
        });
        assert.equal(tooWide, 0, JSON.stringify(run).slice(0, 200));
      }
    }));
}

for (const theme of ['dark', 'light', 'hc', 'hclight'] satisfies ThemeName[]) {
  test(`pictures of the page in the theme ${theme}`, async () => {
    for (const [name, width, place] of [
      ['running', 1200, 'panel'],
      ['complete', 1200, 'panel'],
      ['partial', 1200, 'panel'],
      ['endpointFailed', 1200, 'panel'],
      ['running', 260, 'view'],
      ['complete', 260, 'view'],
    ] as const) {
      await withPage({ theme, width, place }, async (open) => {
        await draw(open, sampleRuns[name]);
        await open.page.evaluate(() => document.fonts.ready);
        await open.page.screenshot({ path: join(pictures, `${name}-${theme}-${width}.png`), fullPage: true });
      });
    }
  });
}

test('what models, benchmarks and files say stays text', () =>
  withPage({}, async (open) => {
    const hostile = `"><img src=x onerror="window.hacked=1"><script>window.hacked=1</script><a href="command:x">y</a>\${1}`;
    await draw(
      open,
      sampleRun([sampleShard(0, 3, { phase: 'failed', message: hostile })], {
        id: hostile,
        benchmark: hostile,
        modelId: hostile,
        clusterName: hostile,
        status: 'partial',
        message: hostile,
        scores: { [hostile]: { value: 0.5 }, 'pass@1': { value: 0.5 } },
        categories: { [hostile]: { mean_reward: 0.5, n: 1 } },
        bundlePath: hostile,
        outputFolder: hostile,
      }),
    );
    assert.equal(await open.page.locator('img, a, body script:not([nonce])').count(), 0);
    assert.equal(await open.page.evaluate(() => 'hacked' in window), false);
    assert.equal(await textOf(open.page.getByTestId('bundle-path')), hostile);
  }));

test('a row keeps its place in the document while its numbers change', () =>
  withPage({}, async (open) => {
    await draw(open, sampleRuns.running);
    const row = await open.page.getByTestId('shard-4').elementHandle();
    assert.ok(row);
    const shards = sampleRuns.running.shards.map((shard) => (shard.index === 4 ? sampleShard(4, 330) : shard));
    await open.send(sampleRun(shards));
    await open.page.locator('[data-testid="shard-4"][data-done="330"]').waitFor();
    assert.deepEqual(await row.evaluate((element) => [element.isConnected, { ...(element as HTMLElement).dataset }]), [
      true,
      { testid: 'shard-4', phase: 'done', done: '330', total: '330', attempt: '0' },
    ]);
  }));

test('a screen reader finds a table with named progress bars, and hears changes of the state', () =>
  withPage({ width: 260, place: 'view' }, async (open) => {
    await draw(open, sampleRuns.running);
    const table = open.page.getByRole('table', { name: 'Shards' });
    // The narrow form hides the head of the table.
    assert.equal(await table.getByRole('row').count(), 8);
    const bar = table.getByRole('progressbar', { name: 'Shard 4' });
    assert.equal(await bar.getAttribute('aria-valuenow'), '231');
    assert.equal(await bar.getAttribute('aria-valuetext'), '231 of 330 answers');
    const live = open.page.locator('[aria-live="polite"]');
    assert.equal(await live.textContent(), 'Running');
    await draw(open, sampleRuns.complete);
    assert.equal(await live.textContent(), 'Complete. pass@1 70.36\u00a0%');
  }));

test('the score and its intervals are readable by a program as the bundle has them', () =>
  withPage({}, async (open) => {
    await draw(open, sampleRuns.complete);
    const score = open.page.getByTestId('final-score-pass@1');
    assert.equal(await open.page.getByTestId('merged-score').getAttribute('data-value'), '0.7036');
    assert.equal(await score.getAttribute('data-value'), '0.7036');
    const rerun = score.locator('[data-interval="ci"]');
    assert.equal(await rerun.getAttribute('data-lower'), '0.6842');
    assert.equal(await textOf(rerun), '0.6842 – 0.7230');
    assert.equal(await textOf(open.page.getByTestId('final-score-pass@2').locator('[data-interval="ci"]')), '–');
  }));

test('a run that failed at the endpoint says so and shows no 0 %', () =>
  withPage({}, async (open) => {
    await draw(open, sampleRuns.endpointFailed);
    const text = await textOf(open.page.locator('body'));
    assert.match(text, /Endpoint failed/);
    assert.doesNotMatch(text, /\b0(\.0+)?.%/);
    assert.equal(await open.page.getByTestId('merged-score').getAttribute('data-value'), null);
  }));

test('buttons ask the extension, with the run they are about', () =>
  withPage({ place: 'view', width: 260 }, async (open) => {
    await draw(open, null);
    await open.page.getByRole('button', { name: 'Submit sharded benchmark' }).click();
    await draw(open, sampleRuns.running);
    assert.equal(await open.page.getByRole('button', { name: 'Open bundle' }).count(), 0);
    for (const name of ['Cancel', 'Open in editor', 'Open log', 'Open folder']) {
      await open.page.getByRole('button', { name }).click();
    }
    await draw(open, sampleRuns.complete);
    assert.equal(await open.page.getByRole('button', { name: 'Cancel' }).count(), 0);
    await open.page.getByRole('button', { name: 'Open bundle' }).click();
    await draw(open, sampleRuns.lost);
    assert.equal(await open.page.getByRole('button', { name: 'Cancel' }).count(), 0, 'a lost run cannot be cancelled');
    const about = (action: string): unknown => ({ type: 'action', action, run: 'run-1' });
    assert.deepEqual(await open.posted(), [
      { type: 'ready' },
      { type: 'action', action: 'submit' },
      ...['cancel', 'openPanel', 'openLog', 'openFolder', 'openBundle'].map(about),
    ]);
  }));

test('the clocks go on by themselves', () =>
  withPage({}, async (open) => {
    await draw(open, { ...sampleRuns.running, lastHeardAt: SAMPLE_NOW - 5_000 });
    assert.equal(await textOf(open.page.getByTestId('elapsed')), '0:42 elapsed');
    await open.page.clock.setFixedTime(SAMPLE_NOW + 10_000);
    await open.page.getByText('0:52 elapsed').waitFor();
    await open.page.getByText('last heard 15 s ago').waitFor();
  }));

test('the page comes back where the reader was', async () => {
  let kept: unknown;
  await withPage({ height: 300 }, async (open) => {
    await draw(open, sampleRuns.complete);
    await open.page.mouse.wheel(0, 200);
    await open.page.waitForFunction(() => document.documentElement.scrollTop === 200);
    // The page hears of the scrolling with the next frame.
    await open.page.evaluate(
      () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
    );
    kept = await open.kept();
    assert.deepEqual(kept, { runId: 'run-1', scrollTop: 200 });
  });
  await withPage({ height: 300, kept }, async (open) => {
    // After a window reload the run may be read later than the page is up; that must not make it forget.
    await draw(open, null);
    await draw(open, sampleRuns.complete);
    assert.equal(await open.page.evaluate(() => document.documentElement.scrollTop), 200);
  });
});

/** A Gym server that is run from its configuration, in a real window: a reload of the window ends it as an interrupt does. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { type FakeGym, isAlive, makeFakeGym } from '../support/fakeGym';
import { projectRoot } from '../support/projectRoot';
import { copySamples, type SamplesCopy } from '../support/samplesCopy';
import { type CodeWindow, openWindow } from '../support/vscode/window';

let folder: string;
let gym: FakeGym;
let samples: SamplesCopy;
let window: CodeWindow;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gym-'));
  gym = await makeFakeGym(folder);
  samples = await copySamples();
  await writeFile(
    join(samples.folder, '.vscode', 'settings.json'),
    JSON.stringify({ 'shardboard.pythonPath': gym.python }),
  );
  window = await openWindow({ folder: samples.folder, vsix: join(projectRoot, 'shardboard.vsix') });
});

after(async () => {
  await window?.close();
  await samples?.remove();
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
});

test('it runs until the window is reloaded, and leaves nothing behind', { timeout: 3 * 60_000 }, async () => {
  await window.quickOpen('word_count.yaml');
  await window.codeLens('Run with Gym').click();
  await window.codeLens('Stop Gym').waitFor();
  const server = Number((await lineOf('server ')).slice('server '.length));
  assert.equal(await isAlive(server), true);
  await window.reload();
  await lineOf('ended');
  assert.equal(await isAlive(server), false);
  await window.codeLens('Run with Gym').waitFor();
});

async function lineOf(start: string): Promise<string> {
  for (;;) {
    const line = (await gym.log()).find((candidate) => candidate.startsWith(start));
    if (line !== undefined) {
      return line;
    }
    await wait(50);
  }
}

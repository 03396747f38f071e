/** What keeps Gym, with a stand-in for it: however the editor goes, Gym is interrupted, and nothing is left. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { type FakeGym, isAlive, makeFakeGym } from '../support/fakeGym';
import { projectRoot } from '../support/projectRoot';

const keeper = join(projectRoot, 'out', 'src', 'gym', 'serverKeeper.cjs');
let folder: string;
let gym: FakeGym;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keeper-'));
});
after(() => rm(folder, { recursive: true, force: true }));
beforeEach(async () => {
  gym = await makeFakeGym(await mkdtemp(join(folder, 'gym ')));
});

/** Starts it, and waits until Gym and its server run. Answers the server's pid. */
async function started(program = gym.program): Promise<{ child: ChildProcess; server: number }> {
  const child = spawn(process.execPath, [keeper, program, 'env', 'start', '--config', 'a b.yaml'], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const line = await lineOf('server ');
  return { child, server: Number(line.slice('server '.length)) };
}

async function lineOf(start: string): Promise<string> {
  for (;;) {
    const line = (await gym.log()).find((candidate) => candidate.startsWith(start));
    if (line !== undefined) {
      return line;
    }
    await wait(20);
  }
}

async function gymPid(): Promise<number> {
  return Number((await lineOf('gym ')).slice('gym '.length));
}

test('Gym gets its arguments as they are, and is interrupted when the input ends', async () => {
  const { child, server } = await started();
  child.stdin?.end();
  const [code] = await once(child, 'exit');
  assert.equal(code, 0);
  assert.deepEqual(await gym.log(), [
    'arguments ["env","start","--config","a b.yaml"]',
    `folder ${process.cwd()}`,
    `gym ${await gymPid()}`,
    `server ${server}`,
    'SIGINT',
    'ended',
  ]);
  assert.equal(await isAlive(server), false);
});

for (const signal of ['SIGHUP', 'SIGTERM', 'SIGINT'] as const) {
  test(`${signal} becomes an interrupt`, async () => {
    const { child, server } = await started();
    child.kill(signal);
    await once(child, 'exit');
    assert.ok((await gym.log()).includes('SIGINT'));
    assert.equal(await isAlive(server), false);
  });
}

test('an editor that is killed takes Gym with it', async () => {
  const editor = spawn(
    process.execPath,
    [
      '-e',
      `require('node:child_process').spawn(process.execPath, ${JSON.stringify([keeper, gym.program])}, { stdio: ['pipe', 'pipe', 'pipe'] }); setInterval(() => {}, 1000);`,
    ],
    { stdio: 'ignore' },
  );
  const server = Number((await lineOf('server ')).slice('server '.length));
  editor.kill('SIGKILL');
  await lineOf('ended');
  assert.equal(await isAlive(server), false);
});

test('a Gym that is killed leaves no server behind, and this is told', async () => {
  const { child, server } = await started();
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  process.kill(await gymPid(), 'SIGKILL');
  const [code] = await once(child, 'close');
  assert.equal(code, 1);
  assert.equal(said, 'Gym was ended by SIGKILL.\nGym has left processes behind. They are now terminated.\n');
  assert.equal(await isAlive(server), false);
});

test('a Gym that is not there is told', async () => {
  const child = spawn(process.execPath, [keeper, join(folder, 'absent')], { stdio: ['pipe', 'pipe', 'pipe'] });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const [code] = await once(child, 'close');
  assert.equal(code, 127);
  assert.match(said, /Gym could not be started: .*ENOENT/);
});

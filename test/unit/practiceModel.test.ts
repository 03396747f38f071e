import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { request } from 'undici';
import * as v from 'valibot';

const PROBLEMS = 30;
const RIGHT_SHARE = 0.7;

const announcement = v.object({ url: v.string(), pid: v.number() });
const completion = v.object({
  choices: v.tuple([
    v.object({ message: v.object({ role: v.literal('assistant'), content: v.string() }), finish_reason: v.string() }),
  ]),
  usage: v.object({ prompt_tokens: v.number(), completion_tokens: v.number(), total_tokens: v.number() }),
});
const stats = v.looseObject({ pid: v.number(), requests: v.number(), questions: v.number(), inFlight: v.number() });

let folder = '';
let model: ChildProcess;
let url = '';

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'practice-model-'));
  const problems = Array.from({ length: PROBLEMS }, (_, i) => ({
    question: `How much is ${i} and 5?`,
    answer: `${i + 5}`,
  }));
  const file = join(folder, 'problems.jsonl');
  await writeFile(file, problems.map((problem) => `${JSON.stringify(problem)}\n`).join(''));
  model = spawn(
    process.execPath,
    ['samples/practice_model.mjs', '--latency=0', `--right-share=${RIGHT_SHARE}`, `--problems=${file}`],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  assert(model.stdout);
  const [line] = await once(createInterface({ input: model.stdout }), 'line');
  url = v.parse(v.pipe(v.string(), v.parseJson(), announcement), line).url;
});

after(async () => {
  model.kill('SIGTERM');
  await once(model, 'exit');
  await rm(folder, { recursive: true });
});

async function ask(content: string): Promise<v.InferOutput<typeof completion>> {
  const { statusCode, body } = await request(`${url}/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ model: 'practice', messages: [{ role: 'user', content }] }),
  });
  assert.equal(statusCode, 200);
  return v.parse(completion, await body.json());
}

/** Asks every problem once, all at the same time. */
async function askAll(): Promise<boolean[]> {
  return await Promise.all(
    Array.from({ length: PROBLEMS }, async (_, i) => {
      const answer = await ask(`Solve this.\n\nHow much is ${i} and 5?`);
      return answer.choices[0].message.content.endsWith(`The answer is ${i + 5}`);
    }),
  );
}

async function reset(): Promise<void> {
  const { body } = await request(new URL('/reset', url), { method: 'POST' });
  await body.dump();
}

test('the share of right answers is exact in every repeat, and repeats differ', async () => {
  await reset();
  const first = await askAll();
  const second = await askAll();
  for (const repeat of [first, second]) {
    assert.equal(repeat.filter(Boolean).length, Math.round(RIGHT_SHARE * PROBLEMS));
  }
  assert.notDeepEqual(first, second);
});

test('after a reset the same answers come again', async () => {
  await reset();
  const before = [await askAll(), await askAll()];
  await reset();
  assert.deepEqual([await askAll(), await askAll()], before);
});

test('what is no problem gets a wrong answer and does not move the repeats', async () => {
  await reset();
  const plain = await askAll();
  await reset();
  const other = await ask('Reply with one word.');
  assert.match(other.choices[0].message.content, /unknown/);
  assert.deepEqual(await askAll(), plain);
});

test('a question is found in the middle of a line too', async () => {
  await reset();
  const [plain] = await askAll();
  await reset();
  const answer = await ask('Problem: How much is 0 and 5? Think first.');
  assert.equal(answer.choices[0].message.content.endsWith('The answer is 5'), plain);
});

test('tells its process and what was asked', async () => {
  await reset();
  await ask('Reply with one word.');
  await askAll();
  const { body } = await request(new URL('/stats', url));
  const { pid, requests, questions, inFlight } = v.parse(stats, await body.json());
  assert.deepEqual(
    { pid, requests, questions, inFlight },
    { pid: model.pid, requests: PROBLEMS + 1, questions: PROBLEMS, inFlight: 0 },
  );
});

test('a request that is not a chat is refused', async () => {
  const { statusCode, body } = await request(`${url}/chat/completions`, { method: 'POST', body: 'nonsense' });
  await body.dump();
  assert.equal(statusCode, 400);
});

#!/usr/bin/env node
/**
 * The practice model: an OpenAI-compatible chat endpoint on this machine that needs no key and downloads nothing.
 * It is right for an exact share of the problems, so the score of a run is known beforehand.
 *
 *     node practice_model.mjs --latency 50 --right-share 0.7
 *
 * Options: --port N (0 takes a free one), --latency MS, --right-share 0..1, --problems FILE (JSON lines with `question`
 * and `answer`), --idle-exit SECONDS (ends when nothing was asked for so long). Prints {"url", "pid"} when it is ready.
 *
 * Besides POST /v1/chat/completions and GET /v1/models it has GET /stats, and POST /reset, which forgets what was asked.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const MODEL_ID = 'practice';

const options = readOptions();
const problems = readProblems(options.problems);
const byQuestion = new Map(problems.map((problem, index) => [problem.question, index]));

/** For each repeat number, which problems are answered rightly; filled as repeats are asked for. */
const rightAnswers = [];
let stats = newStats();
/** How often each problem has been asked since the last reset. */
let timesAsked = new Map();

function readOptions() {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: '0' },
      latency: { type: 'string', default: '50' },
      'right-share': { type: 'string', default: '0.7' },
      problems: { type: 'string', default: fileURLToPath(new URL('benchmarks/word_problems.jsonl', import.meta.url)) },
      'idle-exit': { type: 'string', default: '0' },
    },
  });
  const number = (name, low, high) => {
    const value = Number(values[name]);
    if (!(value >= low && value <= high)) {
      throw new Error(`--${name} must be a number from ${low} to ${high}, not ${values[name]}.`);
    }
    return value;
  };
  return {
    port: number('port', 0, 65535),
    latencyMs: number('latency', 0, 600_000),
    rightShare: number('right-share', 0, 1),
    problems: values.problems,
    idleExitMs: number('idle-exit', 0, 86_400) * 1000,
  };
}

function readProblems(file) {
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line));
}

function newStats() {
  return {
    requests: 0,
    questions: 0,
    inFlight: 0,
    maxInFlight: 0,
    firstRequestAt: null,
    firstQuestionAt: null,
    lastQuestionAt: null,
  };
}

/**
 * The problems are put in an order that only the repeat decides, and the first of them are answered rightly. So the
 * share is exact, not merely likely, and another repeat has other problems right.
 */
function isRight(index, repeat) {
  if (!rightAnswers[repeat]) {
    const order = problems.map((_, problem) => ({
      problem,
      rank: createHash('sha256').update(`${problem} ${repeat}`).digest('hex'),
    }));
    order.sort((a, b) => (a.rank < b.rank ? -1 : 1));
    const right = order.slice(0, Math.round(options.rightShare * problems.length));
    rightAnswers[repeat] = new Set(right.map(({ problem }) => problem));
  }
  return rightAnswers[repeat].has(index);
}

/** The problem that a prompt asks, or undefined. */
function findProblem(prompt) {
  // Most prompts have the question on a line of its own; only the others are searched for every question.
  for (const line of prompt.split('\n')) {
    const index = byQuestion.get(line.trim());
    if (index !== undefined) {
      return index;
    }
  }
  const index = problems.findIndex(({ question }) => prompt.includes(question));
  return index < 0 ? undefined : index;
}

function answer(prompt) {
  const index = findProblem(prompt);
  if (index === undefined) {
    return 'I only know the practice problems, and this is none of them. The answer is unknown';
  }
  // The endpoint cannot see which repeat is asked, so the k-th request for a problem gets the k-th answer.
  const repeat = timesAsked.get(index) ?? 0;
  timesAsked.set(index, repeat + 1);
  stats.questions += 1;
  stats.firstQuestionAt ??= Date.now();
  stats.lastQuestionAt = Date.now();
  const expected = Number(problems[index].answer);
  // Wrong as people are wrong: one too many, a step forgotten, a digit slipped.
  const slips = [expected + 1, expected + 10, expected * 2, expected + 3];
  const number = isRight(index, repeat) ? expected : slips[(index + repeat) % slips.length];
  return `Let me go through it step by step. From the numbers given I get ${number}.\nThe answer is ${number}`;
}

function completion(model, prompt, text) {
  // Four letters a token is what people reckon with.
  const usage = { prompt_tokens: Math.ceil(prompt.length / 4), completion_tokens: Math.ceil(text.length / 4) };
  return {
    id: `chatcmpl-${stats.requests}`,
    object: 'chat.completion',
    created: Math.floor(Date.now() / 1000),
    model,
    choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
    usage: { ...usage, total_tokens: usage.prompt_tokens + usage.completion_tokens },
  };
}

/** Counts a request for as long as it is open, however it ends. */
function countInFlight(response) {
  const counted = stats;
  counted.requests += 1;
  counted.firstRequestAt ??= Date.now();
  counted.inFlight += 1;
  counted.maxInFlight = Math.max(counted.maxInFlight, counted.inFlight);
  response.once('close', () => {
    counted.inFlight -= 1;
  });
}

async function chat(request, response) {
  countInFlight(response);
  let body;
  let prompt;
  try {
    body = JSON.parse(await readBody(request));
    prompt = body.messages.findLast(({ role }) => role === 'user').content;
    if (typeof prompt !== 'string') {
      throw new TypeError('The last user message has no text.');
    }
  } catch {
    sendError(response, 400, 'Send JSON with `model` and `messages`, the last user message as text.');
    return;
  }
  const text = answer(prompt);
  if (options.latencyMs > 0) {
    await new Promise((resolve) => setTimeout(resolve, options.latencyMs));
  }
  send(response, 200, completion(body.model ?? MODEL_ID, prompt, text));
}

async function readBody(request) {
  const chunks = [];
  for await (const chunk of request) {
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function send(response, status, content) {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(content));
}

function sendError(response, status, message) {
  send(response, status, { error: { message, type: 'invalid_request_error' } });
}

const routes = {
  'POST /v1/chat/completions': chat,
  'GET /v1/models': (_request, response) =>
    send(response, 200, { object: 'list', data: [{ id: MODEL_ID, object: 'model', owned_by: 'samples' }] }),
  'GET /stats': (_request, response) =>
    send(response, 200, {
      pid: process.pid,
      problems: problems.length,
      rightShare: options.rightShare,
      latencyMs: options.latencyMs,
      ...stats,
    }),
  'POST /reset': (_request, response) => {
    stats = newStats();
    timesAsked = new Map();
    send(response, 200, {});
  },
};

const server = createServer((request, response) => {
  idleTimer?.refresh();
  const path = (request.url ?? '').split('?')[0];
  const route = routes[`${request.method} ${path}`];
  if (route) {
    route(request, response);
  } else {
    sendError(response, 404, `There is no ${request.method} ${path} here.`);
  }
});
// Clients keep connections for their next question; closing one just then would fail that question.
server.keepAliveTimeout = 120_000;

const idleTimer = options.idleExitMs > 0 ? setTimeout(() => process.exit(0), options.idleExitMs) : undefined;
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => process.exit(0));
}

server.once('error', (error) => {
  process.stderr.write(`The practice model cannot listen on port ${options.port}: ${error.message}\n`);
  process.exit(1);
});
server.listen(options.port, '127.0.0.1', () => {
  const { port } = server.address();
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}/v1`, pid: process.pid })}\n`);
});

/**
 * A model endpoint for benches, in a process of its own: constant or real latencies, and a limit of requests a second. The
 * latencies come from a seed, so that the ideal schedule is known.
 *
 *   node modelProgram.cjs '{"latency":{"kind":"constant","ms":50},"perSecond":null}'
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as v from 'valibot';
import { seededRandom } from '../support/seededRandom';
import { latencyOf, modelSettings } from './modelSettings';

const settings = v.parse(modelSettings, JSON.parse(process.argv[2] ?? ''));
const random = seededRandom(settings.seed);
let stats = noStats();
/** A bucket that holds what may come at once, and is filled at the rate of the limit. */
let bucket = { tokens: settings.perSecond ?? 0, at: Date.now() };

const server = createServer((request, response) => {
  request.resume();
  if (request.url === '/stats') {
    send(response, 200, stats);
  } else if (request.url === '/reset') {
    stats = noStats();
    send(response, 200, {});
  } else if (!mayCome()) {
    stats.busy += 1;
    send(response, 429, { error: { message: 'Too many requests' } });
  } else {
    answer(response);
  }
});

function noStats() {
  return { asked: 0, answers: 0, busy: 0, firstAt: 0, lastAt: 0, inFlight: 0, maxInFlight: 0 };
}

function mayCome(): boolean {
  if (settings.perSecond === null) {
    return true;
  }
  const now = Date.now();
  const filled = bucket.tokens + ((now - bucket.at) / 1000) * settings.perSecond;
  bucket = { tokens: Math.min(settings.perSecond, filled), at: now };
  if (bucket.tokens < 1) {
    return false;
  }
  bucket.tokens -= 1;
  return true;
}

function answer(response: ServerResponse): void {
  stats.asked += 1;
  // The first call only finds out whether the endpoint is there, seconds before the run has a process that asks.
  if (stats.asked === 2) {
    stats.firstAt = Date.now();
  }
  stats.inFlight += 1;
  stats.maxInFlight = Math.max(stats.maxInFlight, stats.inFlight);
  setTimeout(
    () => {
      stats.inFlight -= 1;
      stats.answers += 1;
      stats.lastAt = Date.now();
      send(response, 200, {
        id: 'bench',
        object: 'chat.completion',
        model: 'bench',
        choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'The answer is 7' } }],
        usage: { prompt_tokens: 60, completion_tokens: 5, total_tokens: 65 },
      });
    },
    latencyOf(settings.latency, random),
  );
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  console.log(`http://127.0.0.1:${port}`);
});

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A chat endpoint that behaves as a test wants it to. Answers sums of the form "What is 3 + 4?" rightly. */
export interface TestEndpoint {
  readonly url: string;
  /** Requests so far, by the last user message. */
  readonly asked: Map<string, number>;
  /** Authorization headers that came. */
  readonly keys: Set<string>;
  /** Holds every answer back from now on, until `release`. */
  hold(): void;
  release(): void;
  /** Waits until so many requests are held back. */
  held(count: number): Promise<void>;
  close(): Promise<void>;
}

export interface TestEndpointOptions {
  /** Answers 401 to every other key. */
  readonly key?: string;
  /** Milliseconds before each answer. */
  readonly latencyMs?: number;
  /** Status instead of an answer, for these questions. */
  readonly fail?: { readonly status: number; readonly when: (question: string) => boolean };
  /** What goes wrong with a question that is asked for the n-th time, counted from 1; undefined when it is answered. */
  readonly misbehave?: (question: string, time: number) => Misbehaviour | undefined;
}

/** A way in which an endpoint does not answer as it should. */
export type Misbehaviour =
  | { readonly kind: 'status'; readonly status: number; readonly headers?: Readonly<Record<string, string>> }
  | { readonly kind: 'body'; readonly body: string }
  /** Answered rightly but for this. */
  | { readonly kind: 'answer'; readonly content?: string; readonly finishReason?: string }
  | { readonly kind: 'hang' | 'reset' | 'cutOff' };

export async function startEndpoint(options: TestEndpointOptions = {}): Promise<TestEndpoint> {
  const asked = new Map<string, number>();
  const keys = new Set<string>();
  let holding = false;
  const heldBack: (() => void)[] = [];
  const waiting: { count: number; resolve: () => void }[] = [];

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) {
      chunks.push(chunk);
    }
    const key = request.headers.authorization ?? '';
    keys.add(key);
    if (options.key !== undefined && key !== `Bearer ${options.key}`) {
      send(response, 401, { error: { message: 'Incorrect API key provided' } });
      return;
    }
    const body: { messages: { content: string }[] } = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    const question = body.messages.at(-1)?.content ?? '';
    asked.set(question, (asked.get(question) ?? 0) + 1);
    if (options.latencyMs) {
      await new Promise((resolve) => setTimeout(resolve, options.latencyMs));
    }
    if (holding && /^What is/.test(question)) {
      await new Promise<void>((resolve) => {
        heldBack.push(resolve);
        for (const wait of waiting.filter(({ count }) => heldBack.length >= count)) {
          wait.resolve();
        }
      });
    }
    const wrong = options.misbehave?.(question, asked.get(question) ?? 0);
    if (wrong && wrong.kind !== 'answer') {
      misbehave(wrong, response);
      return;
    }
    if (options.fail?.when(question)) {
      send(response, options.fail.status, { error: { message: 'Made to fail' } });
      return;
    }
    const [first = 0, second = 0] = (question.match(/\d+/g) ?? []).map(Number);
    send(response, 200, {
      id: 'test',
      object: 'chat.completion',
      model: 'test',
      choices: [
        {
          index: 0,
          finish_reason: wrong?.finishReason ?? 'stop',
          message: { role: 'assistant', content: wrong?.content ?? `The answer is ${first + second}` },
        },
      ],
      usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
    });
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error) => send(response, 500, { error: { message: String(error) } }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const release = (): void => {
    holding = false;
    for (const resume of heldBack.splice(0)) {
      resume();
    }
  };
  return {
    url: `http://127.0.0.1:${port}/v1`,
    asked,
    keys,
    hold: () => {
      holding = true;
    },
    release,
    held: (count) =>
      new Promise((resolve) => {
        if (heldBack.length >= count) {
          resolve();
        } else {
          waiting.push({ count, resolve });
        }
      }),
    close: async () => {
      release();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function misbehave(wrong: Exclude<Misbehaviour, { kind: 'answer' }>, response: ServerResponse): void {
  switch (wrong.kind) {
    case 'status':
      response.writeHead(wrong.status, { 'content-type': 'application/json', ...wrong.headers });
      response.end(JSON.stringify({ error: { message: 'Made to fail' } }));
      break;
    case 'body':
      response.writeHead(200, { 'content-type': wrong.body.startsWith('<') ? 'text/html' : 'application/json' });
      response.end(wrong.body);
      break;
    case 'cutOff':
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
      response.write('{"choices": [{"mess', () => response.destroy());
      break;
    case 'reset':
      response.destroy();
      break;
    case 'hang':
      // Until the endpoint is closed.
      break;
  }
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

import { request } from 'undici';
import { withoutCredentials } from './address';
import { createDispatcher } from './dispatcher';
import { explainNoAnswer, explainStatus, explainTimeOut, type RequestFacts } from './explain';
import { RayError } from './rayError';
import { receiveTexts } from './socket';

/** Where a cluster's Jobs API is. */
export interface RayEndpoint {
  /** `http://host:port`, perhaps with a path in front of Ray's own. */
  readonly url: string;
  readonly token?: string | undefined;
  /** What a proxy in front of Ray asks for. As secret as the token. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Certificates in PEM form that are believed besides those that Node.js brings. */
  readonly ca?: string | undefined;
}

export interface RayCall {
  readonly method: 'GET' | 'POST' | 'PUT';
  /** From Ray's own root, for example `/api/version`. */
  readonly path: string;
  /** To go after "could not", for example "submit the job". */
  readonly purpose: string;
  readonly body?: string | Uint8Array;
  /** For the whole request and its answer. */
  readonly limitMs: number;
  readonly signal?: AbortSignal | undefined;
}

export interface RayReceiving extends Pick<RayCall, 'path' | 'purpose'> {
  readonly onText: (text: string) => void;
  readonly signal: AbortSignal;
}

export interface Transport {
  readonly facts: (purpose: string) => RequestFacts;
  /**
   * Sends one request.
   *
   * @returns the body of a 2xx answer.
   * @throws RayError for any other answer or none; the signal's reason when it aborts.
   */
  send(call: RayCall): Promise<string>;
  /**
   * Sends a request and hands its body over as it comes, for what is too large to be held.
   *
   * @throws RayError and the signal's reason as `send` does; what the reader throws.
   */
  stream(call: RayCall, read: (body: AsyncIterable<Uint8Array>) => Promise<void>): Promise<void>;
  /**
   * Opens a WebSocket and hands over each text that comes, until it is closed.
   *
   * @throws RayError when it could not be opened; the signal's reason when that is aborted.
   */
  receive(call: RayReceiving): Promise<void>;
  close(): Promise<void>;
}

type AnswerBody = Awaited<ReturnType<typeof request>>['body'];

/** Sends requests to one cluster over connections that are kept open. */
export function createTransport(endpoint: RayEndpoint): Transport {
  const base = endpoint.url.replace(/\/+$/, '');
  const dispatcher = createDispatcher(base, endpoint.ca);
  const secrets = [endpoint.token, ...Object.values(endpoint.headers ?? {})].filter((one) => one !== undefined);
  const facts = (purpose: string): RequestFacts => ({
    url: withoutCredentials(base),
    purpose,
    hasToken: endpoint.token !== undefined,
  });

  async function send(call: RayCall): Promise<string> {
    return await exchange(call, async (body) => await body.text());
  }

  /** One request; what becomes of the body of a good answer is up to the reader. */
  async function exchange<T>(call: RayCall, read: (body: AnswerBody) => Promise<T>): Promise<T> {
    call.signal?.throwIfAborted();
    const about = facts(call.purpose);
    const stop = new AbortController();
    let tookTooLong = false;
    const timer = setTimeout(() => {
      tookTooLong = true;
      stop.abort();
    }, call.limitMs);
    // Not AbortSignal.any: a run's signal lives for hours of polling, and Node 20 keeps every signal made from it.
    const abort = (): void => stop.abort();
    call.signal?.addEventListener('abort', abort, { once: true });
    try {
      const answer = await request(base + call.path, {
        method: call.method,
        headers: headersOf(call, endpoint),
        body: call.body ?? null,
        dispatcher,
        signal: stop.signal,
        headersTimeout: call.limitMs,
        bodyTimeout: call.limitMs,
      });
      if (answer.statusCode >= 200 && answer.statusCode < 300) {
        return await read(answer.body);
      }
      const text = await answer.body.text();
      // Something in between may repeat what it was sent.
      throw explainStatus(answer.statusCode, hidden(text, secrets), about);
    } catch (error) {
      call.signal?.throwIfAborted();
      if (error instanceof RayError) {
        throw error;
      }
      throw tookTooLong ? explainTimeOut(call.limitMs / 1000, about) : explainNoAnswer(error, about);
    } finally {
      clearTimeout(timer);
      call.signal?.removeEventListener('abort', abort);
    }
  }

  // Behind a proxy on the way out it depends on the host's own patches of Node's modules whether it can be opened, as
  // VS Code has them; who receives must do without as well.
  async function receive({ path, purpose, onText, signal }: RayReceiving): Promise<void> {
    await receiveTexts(base + path, {
      headers: commonHeaders(endpoint),
      ca: endpoint.ca,
      facts: facts(purpose),
      hide: (text) => hidden(text, secrets),
      onText,
      signal,
    });
  }

  // Destroyed, not closed: closing would wait for requests that nobody waits for any more.
  return { facts, send, stream: exchange, receive, close: () => dispatcher.destroy() };
}

/** A text without what must not be shown. What is short is a word such as `on`, and would hide half a sentence. */
export function hidden(text: string, secrets: readonly string[]): string {
  return secrets.filter(({ length }) => length >= 6).reduce((rest, one) => rest.replaceAll(one, '<hidden>'), text);
}

function commonHeaders({ token, headers }: RayEndpoint): Record<string, string> {
  return {
    // Ray 2.49 answers 500 to whoever does not say who they are. Not as a browser would: see below.
    'user-agent': 'shardboard',
    ...headers,
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };
}

function headersOf(call: RayCall, endpoint: RayEndpoint): Record<string, string> {
  return {
    ...commonHeaders(endpoint),
    // On reads, on purpose: Ray takes the reader for a browser and puts `<redacted>` in place of the values of
    // runtime_env.env_vars, so that no secret of any job reaches us. On writes Ray would answer 405.
    ...(call.method === 'GET' ? { 'sec-fetch-mode': 'cors' } : {}),
    ...(typeof call.body === 'string' ? { 'content-type': 'application/json' } : {}),
  };
}

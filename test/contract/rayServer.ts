import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

/** One request as it came, with its whole body. */
export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

export type Handler = (received: Received, response: ServerResponse) => void;

export interface RayServer {
  readonly url: string;
  readonly received: readonly Received[];
}

/**
 * A local server that answers as Ray 2.60's dashboard would where it decides before any handler: what it takes for a
 * browser may only read. Ends with the test.
 */
export async function startRayServer(t: TestContext, handler: Handler): Promise<RayServer> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const one: Received = {
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks),
      };
      received.push(one);
      if (isBrowser(request) && one.method !== 'GET') {
        response.writeHead(405).end(`'${one.method}' method not allowed for browser traffic.`);
      } else {
        handler(one, response);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, received };
}

/** Answers every request with this. */
export function always(status: number, body: string): Handler {
  return (_received, response) => response.writeHead(status).end(body);
}

/** Ray's own rule (ray/dashboard/optional_utils.py, is_browser_request). */
function isBrowser(request: IncomingMessage): boolean {
  const telling = ['referer', 'origin', 'sec-fetch-mode', 'sec-fetch-dest', 'sec-fetch-site', 'sec-fetch-user'];
  return (request.headers['user-agent'] ?? '').startsWith('Mozilla') || telling.some((name) => name in request.headers);
}

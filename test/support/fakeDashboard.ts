import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import type { RayJob } from '../../src/ray/client';

/** What can go wrong with the socket: it is refused; closed after the first piece; open, and nothing comes; or nothing does. */
export type SocketFault = 'refused' | 'closed' | 'silent' | 'none';

/** A dashboard with one job whose log grows as a test, or a bench, says. Made wrong in the ways that real ones are. */
export interface FakeDashboard {
  readonly url: string;
  /** How often each path was asked for; a socket counts with its own. */
  readonly asked: ReadonlyMap<string, number>;
  readonly headers: readonly IncomingMessage['headers'][];
  /** How many sockets are open. */
  sockets(): number;
  job: { status: RayJob['status'] };
  sessionName: string;
  socketFault: SocketFault;
  /** Answers this status for the log, or breaks the connection; undefined ends it. */
  failLog: number | 'broken' | undefined;
  /** Answers this status for the job; undefined ends it. */
  failJob: number | undefined;
  log(): string;
  /** Adds to the log, and hands it to the sockets. */
  write(text: string): void;
  /** Puts another log in its place; a socket reads on from where it was, as Ray's does. */
  replace(text: string): void;
  /** Stops listening and breaks every connection, until `revive`. */
  die(): Promise<void>;
  revive(): Promise<void>;
  close(): Promise<void>;
}

/** Ray tells the log in pieces of about so many characters, which may end anywhere. */
const PIECE = 20_000;

export async function startFakeDashboard(base = ''): Promise<FakeDashboard> {
  const asked = new Map<string, number>();
  const headers: IncomingMessage['headers'][] = [];
  const open = new Set<WebSocket>();
  let log = '';
  let port = 0;
  let server: Server | undefined;

  const dashboard: FakeDashboard = {
    get url() {
      return `http://127.0.0.1:${port}${base}`;
    },
    asked,
    headers,
    sockets: () => open.size,
    job: { status: 'RUNNING' },
    sessionName: 'session_1',
    socketFault: 'none',
    failLog: undefined,
    failJob: undefined,
    log: () => log,
    write(text) {
      log += text;
      for (const socket of open) {
        tell(socket, text);
      }
    },
    replace(text) {
      log = text;
    },
    async die() {
      for (const socket of open) {
        socket.terminate();
      }
      server?.closeAllConnections();
      await new Promise((resolve) => server?.close(resolve));
    },
    revive: listen,
    close: async () => await dashboard.die(),
  };

  function tell(socket: WebSocket, text: string): void {
    if (dashboard.socketFault === 'silent') {
      return;
    }
    for (let at = 0; at < text.length; at += PIECE) {
      socket.send(text.slice(at, at + PIECE));
      if (dashboard.socketFault === 'closed') {
        socket.close();
        return;
      }
    }
  }

  function answer(request: IncomingMessage, response: ServerResponse): void {
    const path = (request.url ?? '').slice(base.length);
    asked.set(path, (asked.get(path) ?? 0) + 1);
    headers.push(request.headers);
    const send = (body: unknown, status = 200): void => {
      response.writeHead(status).end(JSON.stringify(body));
    };
    if (path === '/api/version') {
      send({ version: '4', ray_version: '2.60.0', session_name: dashboard.sessionName });
    } else if (path.endsWith('/logs')) {
      if (dashboard.failLog === 'broken') {
        response.destroy();
      } else {
        send(dashboard.failLog === undefined ? { logs: log } : 'Traceback', dashboard.failLog);
      }
    } else if (path.startsWith('/api/jobs/')) {
      const job = { type: 'SUBMISSION', submission_id: 'run-1', status: dashboard.job.status, entrypoint: '' };
      send(dashboard.failJob === undefined ? job : 'Job run-1 does not exist', dashboard.failJob);
    } else {
      send('Not Found', 404);
    }
  }

  async function listen(): Promise<void> {
    const next = createServer(answer);
    // Ray agrees on compression with whoever wants it, and then hands on nothing.
    const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: true });
    next.on('upgrade', (request, raw, head) => {
      const path = (request.url ?? '').slice(base.length);
      asked.set(path, (asked.get(path) ?? 0) + 1);
      headers.push(request.headers);
      if (dashboard.socketFault === 'refused') {
        raw.end('HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\nconnection: close\r\n\r\n');
        return;
      }
      sockets.handleUpgrade(request, raw, head, (socket) => {
        socket.on('error', () => undefined);
        if (socket.extensions !== '') {
          socket.close(1000);
          return;
        }
        open.add(socket);
        socket.on('close', () => open.delete(socket));
        tell(socket, log);
      });
    });
    await new Promise<void>((resolve) => next.listen(port, '127.0.0.1', resolve));
    port = (next.address() as AddressInfo).port;
    server = next;
  }

  await listen();
  return dashboard;
}

import { rootCertificates } from 'node:tls';
import { WebSocket } from 'ws';
import { explainNoAnswer, explainStatus, explainTimeOut, type RequestFacts } from './explain';

const OPEN_LIMIT_MS = 10_000;
/** Of an answer that refuses to open it, more than this says nothing. */
const LONGEST_REFUSAL = 10_000;

export interface SocketOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly ca: string | undefined;
  readonly facts: RequestFacts;
  /** An answer's text as it may be shown. */
  readonly hide: (text: string) => string;
  readonly onText: (text: string) => void;
  readonly signal: AbortSignal;
}

/**
 * Opens a WebSocket and hands over each text that comes.
 *
 * @param url `http(s)://…`, as every other address of Ray
 * @returns when it has been closed, by whichever side
 * @throws RayError when it could not be opened; the signal's reason when that is aborted
 */
export function receiveTexts(url: string, options: SocketOptions): Promise<void> {
  const { facts, onText, signal } = options;
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url.replace(/^http/, 'ws'), {
      // Ray's dashboard hands the agent's frames on and cannot read compressed ones: with compression agreed on, the socket
      // opens, stays silent and closes as if all were well.
      perMessageDeflate: false,
      headers: { ...options.headers },
      handshakeTimeout: OPEN_LIMIT_MS,
      ...(options.ca === undefined ? {} : { ca: [...rootCertificates, options.ca] }),
    });
    let hasOpened = false;
    const abort = (): void => socket.terminate();
    signal.addEventListener('abort', abort, { once: true });
    const settle = (error?: unknown): void => {
      signal.removeEventListener('abort', abort);
      if (signal.aborted) {
        reject(signal.reason);
      } else if (error === undefined || hasOpened) {
        resolve();
      } else {
        reject(error);
      }
    };
    socket.on('open', () => {
      hasOpened = true;
    });
    socket.on('message', (data) => onText(data.toString()));
    socket.on('unexpected-response', (request, response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (text: string) => {
        body += text.slice(0, LONGEST_REFUSAL - body.length);
      });
      response.on('close', () => {
        request.destroy();
        settle(explainStatus(response.statusCode ?? 0, options.hide(body), facts));
      });
    });
    socket.on('error', (error) => {
      const tookTooLong = error.message === 'Opening handshake has timed out';
      settle(tookTooLong ? explainTimeOut(OPEN_LIMIT_MS / 1000, facts) : explainNoAnswer(error, facts));
    });
    socket.on('close', () => settle());
  });
}

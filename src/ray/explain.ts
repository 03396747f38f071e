import { errors } from 'undici';
import { messageOf } from '../common/userError';
import { RayError } from './rayError';

/** What is needed to say something useful about a failed request. */
export interface RequestFacts {
  /** The address without anything secret in it. */
  readonly url: string;
  /** What was asked for, to go after "could not", for example "submit the job". */
  readonly purpose: string;
  readonly hasToken: boolean;
}

const JOBS_API_HINT = "Ray's Jobs API is on the port of its dashboard, usually 8265.";

/** The error for an answer that is not a success. */
export function explainStatus(status: number, body: string, facts: RequestFacts): RayError {
  const { url, purpose } = facts;
  const detail = lastLine(body);
  if (status === 401 && !facts.hasToken) {
    return new RayError(
      'unauthorized',
      `The Ray cluster at ${url} asks for a token. Join it again with its token; on the machine that runs it, it usually stands in ~/.ray/auth_token.`,
    );
  }
  if (isBrowserRefusal(status, body)) {
    return new RayError(
      'browser_blocked',
      `Ray at ${url} took the request for one of a web page and refused it. The cluster is up; a proxy between here and Ray may add headers such as Origin or Referer.`,
    );
  }
  if (status === 403 && !facts.hasToken) {
    return new RayError(
      'forbidden',
      `${url} lets nobody in without more than an address (HTTP 403). A proxy in front of Ray may want a header, or Ray a token.`,
    );
  }
  if (status === 401 || status === 403) {
    return new RayError(
      'forbidden',
      `The Ray cluster at ${url} does not accept the token. Join it again with the token it was started with.`,
    );
  }
  if (status === 404) {
    return new RayError('not_found', `Ray at ${url} could not ${purpose}: ${detail || 'it does not know it'}.`);
  }
  if (status === 413) {
    return new RayError('too_large', `Ray at ${url} refused the package because it is too large. ${detail}`.trim());
  }
  if (body.includes('No available agent')) {
    return new RayError(
      'no_agent',
      `The head node of the Ray cluster at ${url} cannot take jobs: its dashboard agent is not there. A cluster that has just started needs some seconds; if it stays so, another cluster on that machine holds the agent's port.`,
    );
  }
  if (status >= 300 && status < 400) {
    return new RayError(
      'unexpected_answer',
      `${url} sends requests on to another address (HTTP ${status}), which is not followed. Use the address of Ray's dashboard itself.`,
    );
  }
  return new RayError('server', `Ray at ${url} could not ${purpose} (HTTP ${status}). ${detail}`.trim());
}

/** The error for an answer that is not what Ray sends. */
export function explainUnexpected(body: string, reason: string, facts: RequestFacts): RayError {
  const what = isWebPage(body) ? 'it answered with a web page' : reason;
  return new RayError(
    'unexpected_answer',
    `${facts.url} does not answer as Ray's Jobs API does: ${what}. ${JOBS_API_HINT}`,
  );
}

/** The error for a request that got no whole answer. */
export function explainNoAnswer(error: unknown, facts: RequestFacts): RayError {
  const { url, purpose } = facts;
  const code = codeOf(error);
  const cause = { cause: error };
  if (code === 'ECONNREFUSED') {
    return new RayError('unreachable', `Nothing answers at ${url}. Is the Ray cluster still running?`, cause);
  }
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return new RayError('unreachable', `The name of the host in ${url} cannot be resolved.`, cause);
  }
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') {
    return new RayError('too_large', `The answer of Ray at ${url} is too large to read.`, cause);
  }
  if (error instanceof errors.HTTPParserError) {
    return new RayError('unexpected_answer', `${url} does not speak HTTP. ${JOBS_API_HINT}`, cause);
  }
  const noTrust = explainTls(code, url, cause);
  if (noTrust) {
    return noTrust;
  }
  if (code === 'UND_ERR_ABORTED' && messageOf(error).startsWith('Proxy response')) {
    const status = /\d+/.exec(messageOf(error))?.[0] ?? '';
    return new RayError(
      'unreachable',
      `The proxy that HTTP_PROXY or HTTPS_PROXY names did not let the request through to ${url} (HTTP ${status}). When the cluster is to be reached without it, put its host into NO_PROXY and start VS Code anew.`,
      cause,
    );
  }
  if (code === 'UND_ERR_DESTROYED' || code === 'UND_ERR_CLOSED') {
    return new RayError('unreachable', `The connection to the Ray cluster at ${url} has been closed.`, cause);
  }
  return new RayError(
    'unreachable',
    `The connection to ${url} broke while it was asked to ${purpose} (${code || messageOf(error)}).`,
    cause,
  );
}

/** The error for a connection that could not be made secure; undefined for every other. */
function explainTls(code: string, url: string, cause: ErrorOptions): RayError | undefined {
  const start = `No secure connection to ${url} could be made:`;
  if (code === 'EPROTO' || code === 'ERR_SSL_WRONG_VERSION_NUMBER' || code === 'ERR_SSL_PACKET_LENGTH_TOO_LONG') {
    const plain = url.replace(/^https/, 'http');
    return new RayError('unreachable', `${start} it does not speak https there. Try ${plain}.`, cause, [
      { title: `Join ${plain}`, command: 'shardboard.joinCluster', args: [plain] },
    ]);
  }
  if (/^(DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_)/.test(code)) {
    return new RayError(
      'unreachable',
      `${start} its certificate is signed by nobody whom this machine knows: by itself, or by an authority of your company. If you trust it, name the file with that certificate in the setting shardboard.caFile.`,
      cause,
      [{ title: 'Open setting', command: 'shardboard.openSetting', args: ['shardboard.caFile'] }],
    );
  }
  if (code === 'CERT_HAS_EXPIRED') {
    return new RayError('unreachable', `${start} its certificate has expired.`, cause);
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return new RayError('unreachable', `${start} its certificate is for another name. Use the name it is for.`, cause);
  }
  return /^(ERR_SSL|ERR_TLS|CERT_)/.test(code)
    ? new RayError('unreachable', `${start} ${messageOf(cause.cause)}.`, cause)
    : undefined;
}

/** The error for a request that took too long. */
export function explainTimeOut(seconds: number, facts: RequestFacts): RayError {
  return new RayError(
    'unreachable',
    `${facts.url} was asked to ${facts.purpose} and did not answer within ${seconds} s.`,
  );
}

/** The last line that says something: of a Python traceback, the error itself. Of a web page, nothing. */
export function lastLine(body: string): string {
  if (isWebPage(body)) {
    return '';
  }
  const lines = body.split('\n').map((line) => line.trim());
  const last = lines.findLast((line) => line !== '') ?? '';
  return last.length > 500 ? `${last.slice(0, 500)}…` : last;
}

function isWebPage(body: string): boolean {
  return /^\s*<(!doctype|html|head|body)/i.test(body);
}

/** Ray answers 405 where a browser may read but not write, 403 where it may do nothing. */
function isBrowserRefusal(status: number, body: string): boolean {
  return (status === 405 && body.includes('browser')) || (status === 403 && body.startsWith('Browser requests'));
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

import { isIPv6 } from 'node:net';
import { UserError } from '../common/userError';

const DASHBOARD_PORT = '8265';
/** Ports of Ray that people know and that do not serve the Jobs API. */
const OTHER_PORTS: Readonly<Record<string, string>> = {
  '6379': "is the port of Ray's control store, which nodes and drivers connect to",
  '10001': "is the port of the Ray Client, which `ray.init('ray://…')` connects to",
};

/**
 * Makes what a person typed for a cluster into the address of its Jobs API.
 *
 * @returns `http(s)://host[:port][/path]`, without a slash at the end.
 * @throws UserError that says what is wrong, with the likely address as an action where there is one.
 */
export function normaliseAddress(text: string): string {
  const typed = text.trim();
  if (typed === '') {
    throw new UserError(`Type the address of the cluster's dashboard, for example http://localhost:${DASHBOARD_PORT}.`);
  }
  const shown = withoutCredentials(typed);
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(typed)?.[1]?.toLowerCase();
  if (typed.toLowerCase() === 'auto') {
    throw new UserError(
      'auto is no address, but a wish to find the cluster of this machine. Run Shardboard: Join Ray Cluster and choose one of those that are found.',
      [{ title: 'Join a cluster', command: 'shardboard.joinCluster' }],
    );
  }
  if (scheme === 'ray') {
    const { host } = parse(typed.replace(/^ray/i, 'http'), shown);
    throw wrongPort(host, `${shown} is an address of the Ray Client`);
  }
  if (scheme !== undefined && scheme !== 'http' && scheme !== 'https') {
    throw new UserError(
      `${shown} starts with ${scheme}://, and Ray's Jobs API is reached by http:// or https://. Type the address of the cluster's dashboard, for example http://localhost:${DASHBOARD_PORT}.`,
    );
  }
  const { url, host } = parse(scheme === undefined ? `http://${inBrackets(typed)}` : typed, shown);
  if (url.username !== '' || url.password !== '') {
    throw new UserError(
      'An address with a name or password in it is not taken, because it would be shown. Use a token.',
    );
  }
  const otherPort = OTHER_PORTS[url.port];
  if (otherPort !== undefined) {
    throw wrongPort(host, `${url.port} ${otherPort}`);
  }
  if (url.hostname === '0.0.0.0') {
    // What Ray prints for a dashboard that listens everywhere; it is not an address to connect to.
    url.hostname = '127.0.0.1';
  }
  const hasPort = /:\d+$/.test(/^[^/?#]*/.exec(inBrackets(typed))?.[0] ?? '');
  if (scheme === undefined && !hasPort && url.pathname === '/') {
    return `http://${url.hostname}:${DASHBOARD_PORT}`;
  }
  // What follows # is the dashboard's own page, copied along from the browser; what follows /api is ours to add.
  return `${url.origin}${url.pathname.replace(/\/api\/(version|jobs)\/?$/, '')}`.replace(/\/+$/, '');
}

/** Whether an address leads to this machine and nowhere else. */
export function isLoopback(url: string): boolean {
  const { hostname } = new URL(url);
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

/** Whether what is sent there can be read on the way: plain HTTP that leaves this machine. */
export function isReadableOnTheWay(url: string): boolean {
  return new URL(url).protocol === 'http:' && !isLoopback(url);
}

/** An address as it may stand in a message. */
export function withoutCredentials(address: string): string {
  return address.replace(/\/\/[^/@]*@/, '//');
}

/** An address of version 6 as people write it alone, `::1`; with its port it needs the brackets already. */
function inBrackets(typed: string): string {
  return isIPv6(typed) ? `[${typed}]` : typed;
}

function parse(address: string, shown: string): { url: URL; host: string } {
  if (!URL.canParse(address)) {
    throw new UserError(
      `${shown} is not an address. Type the address of the cluster's dashboard, for example http://localhost:${DASHBOARD_PORT}.`,
    );
  }
  const url = new URL(address);
  return { url, host: url.hostname };
}

function wrongPort(host: string, reason: string): UserError {
  const likely = `http://${host}:${DASHBOARD_PORT}`;
  return new UserError(
    `${reason}. Benchmarks go through Ray's Jobs API, which is on the port of the dashboard, usually ${DASHBOARD_PORT}: try ${likely}.`,
    [{ title: `Join ${likely}`, command: 'shardboard.joinCluster', args: [likely] }],
  );
}

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
  if (scheme === 'ray') {
    const { host } = parse(typed.replace(/^ray/i, 'http'), shown);
    throw wrongPort(host, `${shown} is an address of the Ray Client`);
  }
  if (scheme !== undefined && scheme !== 'http' && scheme !== 'https') {
    throw new UserError(
      `${shown} starts with ${scheme}://, and Ray's Jobs API is reached by http:// or https://. Type the address of the cluster's dashboard, for example http://localhost:${DASHBOARD_PORT}.`,
    );
  }
  const { url, host } = parse(scheme === undefined ? `http://${typed}` : typed, shown);
  if (url.username !== '' || url.password !== '') {
    throw new UserError(
      'An address with a name or password in it is not taken, because it would be shown. Use a token.',
    );
  }
  const otherPort = OTHER_PORTS[url.port];
  if (otherPort !== undefined) {
    throw wrongPort(host, `${url.port} ${otherPort}`);
  }
  if (scheme === undefined && !/:\d+\/?$/.test(typed) && url.pathname === '/') {
    return `http://${host}:${DASHBOARD_PORT}`;
  }
  // What follows # is the dashboard's own page, copied along from the browser.
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}

/** An address as it may stand in a message. */
export function withoutCredentials(address: string): string {
  return address.replace(/\/\/[^/@]*@/, '//');
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

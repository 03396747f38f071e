import { rootCertificates } from 'node:tls';
import { Agent, type Dispatcher, EnvHttpProxyAgent } from 'undici';
import { isLoopback } from './address';

/** A job's log can be long; beyond this it would only fill the memory. */
const LARGEST_ANSWER = 256 * 1024 * 1024;
const CONNECT_LIMIT_MS = 10_000;

/**
 * Makes the connections to one address: through the proxy that HTTP_PROXY, HTTPS_PROXY and NO_PROXY name, and never
 * through one to this machine.
 *
 * @param ca certificates in PEM form that are believed besides those that Node.js brings
 */
export function createDispatcher(url: string, ca: string | undefined): Dispatcher {
  const tls = ca === undefined ? {} : { ca: [...rootCertificates, ca] };
  const options = { connect: { timeout: CONNECT_LIMIT_MS, ...tls }, maxResponseSize: LARGEST_ANSWER };
  if (isLoopback(url) || !hasProxy(process.env)) {
    return new Agent(options);
  }
  // What `connect` is without a proxy, `requestTls` is behind one.
  return new EnvHttpProxyAgent({ ...options, requestTls: tls, proxyTls: tls });
}

function hasProxy(env: NodeJS.ProcessEnv): boolean {
  return [env.http_proxy, env.HTTP_PROXY, env.https_proxy, env.HTTPS_PROXY].some(Boolean);
}

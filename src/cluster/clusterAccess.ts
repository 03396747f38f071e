import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { readFileIfThere } from '../common/files';
import { hasCode, messageOf, UserError } from '../common/userError';
import { RayError } from '../ray/rayError';

/** Where the token of a cluster is found, each time anew. */
export type TokenSource =
  /** A person typed it. */
  | { readonly from: 'typed'; readonly token: string }
  | { readonly from: 'file'; readonly path: string }
  /** RAY_AUTH_TOKEN, as the editor's host process has it. */
  | { readonly from: 'environment' };

/** How a cluster lets us in; nothing of it for one that is open. */
export interface ClusterAccess {
  readonly token?: TokenSource | undefined;
  /** What a proxy in front of Ray asks for, by names in small letters. As secret as a token. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** A cluster that was joined, or is to be. */
export interface JoinedCluster {
  /** As `normaliseAddress` makes it. */
  readonly url: string;
  readonly access: ClusterAccess;
}

/** The places where Ray itself would look for a token, in its order, as far as there is one. */
export async function tokenSourcesOfRay(env: NodeJS.ProcessEnv = process.env): Promise<readonly TokenSource[]> {
  const sources: TokenSource[] = env.RAY_AUTH_TOKEN ? [{ from: 'environment' }] : [];
  const files = [...(env.RAY_AUTH_TOKEN_PATH ? [env.RAY_AUTH_TOKEN_PATH] : []), defaultTokenFile(env)];
  for (const path of files) {
    const text = await readFileIfThere(path).catch(() => undefined);
    if (text !== undefined && isToken(text.trim())) {
      sources.push({ from: 'file', path });
    }
  }
  return sources;
}

function defaultTokenFile(env: NodeJS.ProcessEnv): string {
  return join(env.HOME || homedir(), '.ray', 'auth_token');
}

/**
 * Reads the token.
 *
 * @throws RayError, kind `unauthorized`, when it is not there any more.
 */
export async function readToken(
  source: TokenSource | undefined,
  env: NodeJS.ProcessEnv = process.env,
): Promise<string | undefined> {
  switch (source?.from) {
    case undefined:
      return undefined;
    case 'typed':
      return source.token;
    case 'environment':
      return checked(env.RAY_AUTH_TOKEN ?? '', 'the variable RAY_AUTH_TOKEN');
    case 'file':
      return checked((await readFileIfThere(source.path).catch(() => undefined)) ?? '', source.path);
  }
}

function checked(text: string, place: string): string {
  const token = text.trim();
  if (!isToken(token)) {
    throw new RayError(
      'unauthorized',
      `The token of the joined cluster was in ${place}, and is not there any more. Join the cluster again.`,
    );
  }
  return token;
}

/** Whether a text can be sent as a token at all. */
export function isToken(text: string): boolean {
  return /^[\x21-\x7e]+$/.test(text);
}

/** Headers that belong to the connection, that we set, or for which Ray takes the sender for a browser. */
const NOT_TO_BE_SET =
  /^(host|connection|keep-alive|content-.*|transfer-encoding|upgrade|expect|te|trailer|proxy-.*|origin|referer|sec-.*)$/;

/** Reads a header as people write one, `Name: value`; gives what is wrong with it when it cannot be sent. */
export function parseHeader(text: string): { readonly name: string; readonly value: string } | { problem: string } {
  const [, name = '', value = ''] = /^\s*([!#$%&'*+.^_`|~\w-]+)\s*:\s*([\x20-\x7e]*?)\s*$/.exec(text) ?? [];
  if (value === '') {
    return { problem: 'A name, a colon and a value, for example X-Api-Key: 1234' };
  }
  return NOT_TO_BE_SET.test(name.toLowerCase())
    ? { problem: `${name} cannot be set` }
    : { name: name.toLowerCase(), value };
}

/** An access with one header more. A token goes when its own header is given otherwise. */
export function withHeader(access: ClusterAccess, { name, value }: { name: string; value: string }): ClusterAccess {
  const headers = { ...access.headers, [name]: value };
  return name === 'authorization' ? { headers } : { ...access, headers };
}

/**
 * Reads certificates that are to be believed besides those that Node.js brings.
 *
 * @throws UserError when the file cannot be read or holds none.
 */
export async function readCaFile(path: string): Promise<string> {
  const actions = [{ title: 'Open setting', command: 'shardboard.openSetting', args: ['shardboard.caFile'] }];
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    const why = hasCode(error, 'ENOENT') ? 'it does not exist' : messageOf(error);
    throw new UserError(`The file of the setting shardboard.caFile cannot be read: ${path}: ${why}.`, actions);
  }
  try {
    new X509Certificate(text);
  } catch {
    throw new UserError(
      `The file of the setting shardboard.caFile holds no certificate in PEM form ("-----BEGIN CERTIFICATE-----"): ${path}.`,
      actions,
    );
  }
  return text;
}

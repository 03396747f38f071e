import { request } from 'undici';

/** Where Gym's head server listens unless it is told otherwise. */
export const GYM_HEAD_PORT = 11_000;
const LIMIT_MS = 1500;

/**
 * The Ray cluster of the Gym that runs on this machine, as its head server knows it: what `ray.init` takes, mostly
 * `IP:port` of the GCS. Undefined when no Gym runs, or it has no cluster.
 *
 * The answer is Gym's whole configuration, keys of models included. Nothing but this one value may leave this function,
 * not even in an error: so no parser of YAML, whose errors quote, and no error at all.
 */
export async function rayAddressOfGym(port = GYM_HEAD_PORT): Promise<string | undefined> {
  try {
    const answer = await request(`http://127.0.0.1:${port}/global_config_dict_yaml`, {
      signal: AbortSignal.timeout(LIMIT_MS),
    });
    const text = await answer.body.text();
    return answer.statusCode === 200 ? addressIn(text) : undefined;
  } catch {
    return undefined;
  }
}

function addressIn(text: string): string | undefined {
  const yaml: unknown = JSON.parse(text);
  // At the start of a line: a key of the same name further in belongs to somebody else.
  const value = typeof yaml === 'string' ? /^ray_head_node_address:[ \t]*(.*?)[ \t]*$/m.exec(yaml)?.[1] : undefined;
  const address = value?.replace(/^(['"])(.*)\1$/, '$2');
  return address !== undefined && /^(ray:\/\/)?[\w.-]+:\d{1,5}$|^(ray:\/\/)?\[[\da-f:]+\]:\d{1,5}$/i.test(address)
    ? address
    : undefined;
}

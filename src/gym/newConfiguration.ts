/** A configuration to be written for a server that none names. */
export interface NewConfiguration {
  readonly path: string;
  readonly text: string;
}

/**
 * The smallest configuration that starts a server, beside it. Undefined unless it is a resources server that stands where Gym
 * looks for one: an agent or a model needs more than only its file, and only its author knows what.
 */
export async function newConfigurationFor(serverPath: string): Promise<NewConfiguration | undefined> {
  const [, root, name, entrypoint] = /^(.*)\/resources_servers\/([^/]+)\/(.+\.py)$/.exec(serverPath) ?? [];
  if (root === undefined || name === undefined || entrypoint === undefined) {
    return undefined;
  }
  const { stringify } = await import('yaml');
  // Gym wants a domain of every resources server; this one is for what fits no other.
  const content = { [name]: { resources_servers: { [name]: { entrypoint, domain: 'other' } } } };
  return { path: `${root}/resources_servers/${name}/configs/${name}.yaml`, text: stringify(content) };
}

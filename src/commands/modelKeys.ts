import type * as vscode from 'vscode';

const HOSTS = 'modelKeys.hosts';

/** Keys of model endpoints, one for each host, in VS Code's secret storage. */
export interface ModelKeys {
  load(endpoint: string): Promise<string | undefined>;
  save(endpoint: string, key: string): Promise<void>;
  /** Forgets all of them; gives how many there were. */
  forgetAll(): Promise<number>;
}

export function createModelKeys(context: vscode.ExtensionContext): ModelKeys {
  const nameFor = (host: string): string => `modelKey:${host}`;
  // The storage cannot list what it holds, so the hosts (no secret) are kept beside it.
  const hosts = (): readonly string[] => context.globalState.get<readonly string[]>(HOSTS, []);
  return {
    load: async (endpoint) => await context.secrets.get(nameFor(new URL(endpoint).host)),
    async save(endpoint, key) {
      const { host } = new URL(endpoint);
      await context.secrets.store(nameFor(host), key);
      await context.globalState.update(HOSTS, [...new Set([...hosts(), host])]);
    },
    async forgetAll() {
      const known = hosts();
      for (const host of known) {
        await context.secrets.delete(nameFor(host));
      }
      await context.globalState.update(HOSTS, []);
      return known.length;
    },
  };
}

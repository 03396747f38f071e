import * as v from 'valibot';
import type * as vscode from 'vscode';
import type { ClusterAccess, JoinedCluster } from '../cluster/clusterAccess';
import type { JoinedClusterStore } from '../cluster/service';

const KEY = 'joinedCluster';

/** What the workspace remembers; nothing secret. */
const remembered = v.object({
  url: v.string(),
  token: v.optional(
    v.variant('from', [
      v.object({ from: v.literal('file'), path: v.string() }),
      v.object({ from: v.literal('environment') }),
    ]),
  ),
});

/** What the secret storage keeps, for each address. */
const secrets = v.object({ token: v.optional(v.string()), headers: v.optional(v.record(v.string(), v.string())) });

export interface JoinedStore extends JoinedClusterStore {
  /** How the cluster at an address let us in before, from this workspace or another. */
  accessTo(url: string): Promise<ClusterAccess | undefined>;
}

/**
 * Where the joined cluster is remembered: its address in the workspace, what is secret in VS Code's secret storage under
 * that address, so that no cluster gets what another one asked for.
 */
export function createJoinedStore(context: Pick<vscode.ExtensionContext, 'workspaceState' | 'secrets'>): JoinedStore {
  const secretName = (url: string): string => `joinedCluster:${url}`;

  function remember(): v.InferOutput<typeof remembered> | undefined {
    const parsed = v.safeParse(remembered, context.workspaceState.get(KEY));
    return parsed.success ? parsed.output : undefined;
  }

  async function accessTo(url: string): Promise<ClusterAccess | undefined> {
    const known = remember();
    const source = known?.url === url ? known.token : undefined;
    const { token, headers } = parseSecrets(await context.secrets.get(secretName(url)));
    if (source === undefined && token === undefined && headers === undefined) {
      return undefined;
    }
    return { token: token === undefined ? source : { from: 'typed', token }, headers };
  }

  return {
    accessTo,
    async load() {
      const known = remember();
      return known && { url: known.url, access: (await accessTo(known.url)) ?? {} };
    },
    async save({ url, access }: JoinedCluster) {
      const { token, headers } = access;
      await context.workspaceState.update(KEY, { url, ...(token && token.from !== 'typed' && { token }) });
      const typed = token?.from === 'typed' ? { token: token.token } : {};
      const kept = { ...typed, ...(headers && { headers }) };
      await (Object.keys(kept).length === 0
        ? context.secrets.delete(secretName(url))
        : context.secrets.store(secretName(url), JSON.stringify(kept)));
    },
    async forget() {
      const known = remember();
      await context.workspaceState.update(KEY, undefined);
      if (known) {
        await context.secrets.delete(secretName(known.url));
      }
    },
  };
}

function parseSecrets(text: string | undefined): v.InferOutput<typeof secrets> {
  if (text === undefined) {
    return {};
  }
  try {
    return v.parse(secrets, JSON.parse(text));
  } catch {
    // Of an older version, or broken: it is asked for again.
    return {};
  }
}

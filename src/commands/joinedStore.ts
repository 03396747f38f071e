import type * as vscode from 'vscode';
import type { JoinedClusterStore } from '../cluster/service';

const URL_KEY = 'joinedCluster.url';
const TOKEN_KEY = 'joinedCluster.token';

/** Where the joined cluster is remembered: its address in the workspace, its token in the secret storage. */
export function createJoinedStore(context: vscode.ExtensionContext): JoinedClusterStore {
  return {
    async load() {
      const url = context.workspaceState.get<string>(URL_KEY);
      const token = await context.secrets.get(TOKEN_KEY);
      return url === undefined ? undefined : { url, ...(token !== undefined && { token }) };
    },
    async save({ url, token }) {
      await context.workspaceState.update(URL_KEY, url);
      await (token === undefined ? context.secrets.delete(TOKEN_KEY) : context.secrets.store(TOKEN_KEY, token));
    },
    async forget() {
      await context.workspaceState.update(URL_KEY, undefined);
      await context.secrets.delete(TOKEN_KEY);
    },
  };
}

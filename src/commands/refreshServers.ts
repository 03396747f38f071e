import { workspaceRoots } from '../editor/workspaceSourceFiles';
import type { ConfigurationFiles, ConfigurationIndex } from '../gym/configurationIndex';
import type { ServerIndex, SourceFiles } from '../gym/serverIndex';

/** Looks at every file of the workspace anew, for what no event has told of: on a network drive, for one. */
export async function refreshServers(
  files: SourceFiles & ConfigurationFiles,
  servers: ServerIndex,
  configurations: ConfigurationIndex,
): Promise<void> {
  await Promise.all([servers.build(), configurations.build()]);
  const { signal } = new AbortController();
  const listed = await Promise.all(
    workspaceRoots().flatMap((root) => [files.list(root, signal), files.listConfigurations(root, signal)]),
  );
  const paths = [...new Set([...listed.flat(), ...servers.files().keys(), ...configurations.configurations().keys()])];
  servers.update(paths.filter((path) => path.endsWith('.py')));
  configurations.update(paths);
}

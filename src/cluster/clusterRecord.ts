import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import { readFileIfThere, writeFileAtomic } from '../common/files';
import { clusterFolderName } from './clusterFolder';

const clusterRecord = v.object({
  version: v.literal(1),
  dashboardUrl: v.string(),
  /** `IP:port` for `ray.init` and for nodes that join. */
  gcsAddress: v.string(),
  sessionName: v.string(),
  processGroup: v.number(),
  /** The identity of the process that the group was made for. */
  leader: v.string(),
  /** The cluster's own folder, which goes with it. All that is in it is removed, so no other name will do. */
  folder: clusterFolderName,
  /** Only the user can read it; what Ray calls RAY_AUTH_TOKEN_PATH. */
  tokenFile: v.string(),
  /** Milliseconds since 1970. */
  startedAt: v.number(),
  python: v.string(),
  rayVersion: v.string(),
});

/** A cluster that we started. Survives reloads and crashes; is believed only after a look. */
export type ClusterRecord = Readonly<v.InferOutput<typeof clusterRecord>>;

/** The record, or undefined when there is none or none that can be read. */
export async function loadClusterRecord(storageFolder: string): Promise<ClusterRecord | undefined> {
  const text = await readFileIfThere(pathIn(storageFolder));
  if (text === undefined) {
    return undefined;
  }
  try {
    return v.parse(clusterRecord, JSON.parse(text));
  } catch {
    return undefined;
  }
}

export async function saveClusterRecord(storageFolder: string, record: ClusterRecord): Promise<void> {
  await writeFileAtomic(pathIn(storageFolder), `${JSON.stringify(record, undefined, 2)}\n`, 0o600);
}

/** Forgets a cluster, unless another one has been started since. */
export async function removeClusterRecord(storageFolder: string, record: ClusterRecord): Promise<void> {
  if ((await loadClusterRecord(storageFolder))?.folder === record.folder) {
    await rm(pathIn(storageFolder), { force: true });
  }
}

function pathIn(storageFolder: string): string {
  return join(storageFolder, 'cluster.json');
}

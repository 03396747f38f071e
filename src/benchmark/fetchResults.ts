import { createHash } from 'node:crypto';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { messageOf, UserError } from '../common/userError';
import type { DriverEvent, ResultFile } from '../protocol/driverEvents';
import type { RayClient } from '../ray/client';

/** What a driver told of the results that do not stay where it wrote them. */
export type RemoteResults = Extract<DriverEvent, { type: 'files' }>;

/**
 * Brings results here through the dashboard, whatever their size, each file at once or not at all.
 *
 * @throws RayError when the cluster does not hand them out; UserError when they cannot be kept, or are not what was told.
 */
export async function fetchResults(
  client: Pick<RayClient, 'readLogFile'>,
  results: RemoteResults,
  folder: string,
  signal?: AbortSignal,
): Promise<void> {
  for (const file of results.files) {
    await fetchFile(client, results, file, join(folder, file.name), signal);
  }
}

async function fetchFile(
  client: Pick<RayClient, 'readLogFile'>,
  { node, folder }: RemoteResults,
  { name, size, sha256 }: ResultFile,
  path: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const unfinished = `${path}.unfinished`;
  const digest = createHash('sha256');
  let received = 0;
  await keeping(path, async () => {
    await mkdir(dirname(path), { recursive: true });
  });
  const file = await keeping(path, () => open(unfinished, 'w', 0o600));
  let trouble: unknown;
  try {
    await client.readLogFile(
      node,
      `${folder}/${name}`,
      async (body) => {
        for await (const piece of body) {
          digest.update(piece);
          received += piece.length;
          await keeping(path, () => file.write(piece)).catch((error) => {
            trouble = error;
            throw error;
          });
        }
      },
      { signal },
    );
  } catch (error) {
    await file.close();
    await rm(unfinished, { force: true });
    // The client would take a full disk here for a cluster that broke off.
    throw trouble ?? error;
  }
  await file.close();
  if (received !== size || digest.digest('hex') !== sha256) {
    await rm(unfinished, { force: true });
    throw new UserError(
      `The file ${name} did not come whole: ${received} of ${size} bytes, or other content than the driver wrote.`,
    );
  }
  await keeping(path, () => rename(unfinished, path));
}

async function keeping<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new UserError(`The results cannot be kept in ${dirname(path)}: ${messageOf(error)}`, [], { cause: error });
  }
}

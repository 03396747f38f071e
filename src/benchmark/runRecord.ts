import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import { writeFileAtomic } from '../common/files';
import { runRequest } from '../protocol/runRequest';
import { runSnapshot } from '../protocol/runSnapshot';

/** What is kept of a run, so that a reload, a crash or a reboot loses nothing. Holds no secret. */
export const runRecord = v.object({
  version: v.literal(1),
  /** Also the job's submission id. */
  id: v.string(),
  /** As it is shown; the request's own may be a path in the job's package. */
  benchmark: v.string(),
  request: runRequest,
  /** The user's own benchmark file, to be packed anew when the run is taken up again. */
  own: v.optional(v.nullable(v.object({ file: v.string(), name: v.string() })), null),
  /** Where the results are on this machine, when the driver cannot write there. */
  localFolder: v.optional(v.nullable(v.string()), null),
  cluster: v.object({ name: v.string(), sessionName: v.string(), startedHere: v.boolean() }),
  submittedAt: v.number(),
  /** The last state that was drawn. Final when the run has ended; else only for when the cluster is gone. */
  snapshot: v.nullable(runSnapshot),
  /** The job's log, kept when the run has ended or is lost. */
  log: v.nullable(v.string()),
});
export type RunRecord = v.InferOutput<typeof runRecord>;

/** Keeps a record under its run's id. */
export async function saveRunRecord(folder: string, record: RunRecord): Promise<void> {
  await writeFileAtomic(join(folder, `${record.id}.json`), JSON.stringify(record));
}

/**
 * All records in the folder, the oldest first. One that cannot be read is left where it is and reported,
 * since a single damaged file must not hide the others.
 */
export async function loadRunRecords(
  folder: string,
  onDamaged: (file: string, reason: string) => void,
): Promise<RunRecord[]> {
  await mkdir(folder, { recursive: true });
  const records: RunRecord[] = [];
  for (const file of (await readdir(folder)).filter((name) => name.endsWith('.json'))) {
    try {
      const parsed = v.safeParse(runRecord, JSON.parse(await readFile(join(folder, file), 'utf8')));
      if (parsed.success) {
        records.push(parsed.output);
      } else {
        onDamaged(file, v.summarize(parsed.issues));
      }
    } catch (error) {
      onDamaged(file, String(error));
    }
  }
  return records.sort((a, b) => a.submittedAt - b.submittedAt);
}

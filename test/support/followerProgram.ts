/**
 * Follows one job over the socket from its first line on, as a process that can be stopped: `node followerProgram.cjs URL
 * TOKEN SUBMISSION_ID`. Writes each state as a line of JSON, with how often the log was read whole, and ends with the run.
 */
import { LOG_PACE } from '../../src/benchmark/followLog';
import { followRun } from '../../src/benchmark/followRun';
import { apply, initialRunState, snapshotOf } from '../../src/benchmark/runState';
import { createRayClient } from '../../src/ray/client';

const [url = '', token = '', submissionId = ''] = process.argv.slice(2);

async function main(): Promise<void> {
  const ray = createRayClient({ url, token });
  const { sessionName } = await ray.version();
  let reads = 0;
  const client = {
    ...ray,
    jobLogs: (...args: Parameters<typeof ray.jobLogs>) => {
      reads += 1;
      return ray.jobLogs(...args);
    },
  };
  const state = initialRunState({
    id: submissionId,
    benchmark: '',
    modelId: '',
    clusterName: '',
    shards: 1,
    repeats: 1,
    submittedAt: 0,
    outputFolder: '',
  });
  await followRun({
    submissionId,
    sessionName,
    client: () => client,
    fate: () => 'gone',
    heardAt: Date.now(),
    onEvents(events) {
      for (const event of events) {
        apply(state, event);
      }
      console.log(JSON.stringify({ reads, run: snapshotOf(state) }));
    },
    onFault: (fault) => console.error(fault),
    signal: new AbortController().signal,
    pace: { ...LOG_PACE, socketFrom: 1 },
  }).done;
  await ray.close();
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});

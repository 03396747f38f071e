import type { JobSubmission, RayClient, RayJob } from '../../src/ray/client';

/** A Ray that only remembers: for tests of what is done with Ray's answers, not of how they are got. */
export interface FakeRay {
  readonly client: RayClient;
  readonly submitted: JobSubmission[];
  readonly packages: Uint8Array[];
  readonly stopped: string[];
  set(id: string, job: { status: RayJob['status']; log: string }): void;
  /** How often a job's log was read. */
  logsRead(): number;
  /** Every question fails like this from now on; undefined ends it. */
  fail(error: Error | undefined): void;
  /** Another cluster answers from now on, with this session name. */
  become(sessionName: string): void;
  /** Submitting fails like this. */
  refuse(error: Error): void;
}

export function createFakeRay(): FakeRay {
  const submitted: JobSubmission[] = [];
  const packages: Uint8Array[] = [];
  const stopped: string[] = [];
  const jobs = new Map<string, { status: RayJob['status']; log: string }>();
  let logsRead = 0;
  let failure: Error | undefined;
  let session = 'session_1';
  let refusal: Error | undefined;
  const job = (id: string) => {
    if (failure) {
      throw failure;
    }
    return jobs.get(id) ?? { status: 'PENDING' as const, log: '' };
  };
  const unused = (): never => {
    throw new Error('This test does not expect that question.');
  };
  return {
    submitted,
    packages,
    stopped,
    logsRead: () => logsRead,
    set: (id, next) => void jobs.set(id, next),
    fail: (error) => {
      failure = error;
    },
    become: (sessionName) => {
      session = sessionName;
    },
    refuse: (error) => {
      refusal = error;
    },
    client: {
      version: async () => ({ rayVersion: '2.60.0', sessionName: session }),
      pythonVersion: unused,
      nodes: unused,
      usage: unused,
      memory: unused,
      gcsAddress: unused,
      pythonOf: unused,
      hasPackage: unused,
      jobs: unused,
      hasLivingActor: unused,
      readLogFile: unused,
      uploadPackage: async (zip) => {
        packages.push(zip);
        return 'gcs://_ray_pkg_0000000000000000.zip';
      },
      submitJob: async (request) => {
        if (refusal) {
          throw refusal;
        }
        submitted.push(request);
      },
      job: async (id) => {
        const { status } = job(id);
        const ended = status !== 'PENDING' && status !== 'RUNNING';
        return {
          type: 'SUBMISSION',
          submissionId: id,
          jobId: undefined,
          status,
          entrypoint: '',
          message: undefined,
          errorType: undefined,
          startedAt: 1,
          endedAt: ended ? 2 : undefined,
          metadata: {},
          exitCode: undefined,
        };
      },
      jobLogs: async (id) => {
        logsRead += 1;
        return job(id).log;
      },
      tailJobLogs: async () => {
        throw new Error('The logs of these tests are too short for a socket.');
      },
      tasks: unused,
      stopJob: async (id) => {
        stopped.push(id);
        jobs.set(id, { status: 'STOPPED', log: jobs.get(id)?.log ?? '' });
        return true;
      },
      close: async () => undefined,
    },
  };
}

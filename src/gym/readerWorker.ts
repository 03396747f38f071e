/** The program of a reader thread: gets the bytes of Python files, answers what they say. */
import { parentPort, workerData } from 'node:worker_threads';
import { messageOf } from '../common/userError';
import { createPythonParser } from '../python/parser';
import type { ReaderAnswer, ReaderRequest, ReaderSetup } from './readerThreads';
import { createFactsReader } from './readFacts';

const { wasmFolder }: ReaderSetup = workerData;
const read = createFactsReader(createPythonParser(wasmFolder));

parentPort?.on('message', ({ id, bytes }: ReaderRequest) => {
  const answer = (content: ReaderAnswer): void => parentPort?.postMessage(content);
  read(bytes).then(
    (facts) => answer({ id, facts }),
    (error: unknown) => answer({ id, error: messageOf(error) }),
  );
});

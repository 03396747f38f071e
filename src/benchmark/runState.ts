/**
 * A run as a fold over what is heard of it: `state = events.reduce(apply, initial)`.
 * Live, reloaded and replayed runs go through this one function and so cannot differ.
 */
import type {
  AnswerOutcome,
  CompactAnswer,
  DriverEvent,
  DriverStage,
  FailureReason,
  Score,
} from '../protocol/driverEvents';
import {
  hasEnded,
  type RunOrigin,
  type RunSnapshot,
  type RunStatus,
  type ShardPhase,
  type ShardSnapshot,
} from '../protocol/runSnapshot';

/** What is known of a run before anything is heard of it. */
export interface RunFacts {
  readonly id: string;
  readonly benchmark: string;
  readonly modelId: string;
  readonly clusterName: string;
  readonly shards: number;
  readonly repeats: number;
  /** Milliseconds since 1970. */
  readonly submittedAt: number;
  readonly outputFolder: string;
  /** Who submitted it; this window, when not given. */
  readonly origin?: RunOrigin;
  readonly submittedBy?: string | null;
}

/** How many shards of a run of the stock launcher are how far. */
export type ShardCounts = NonNullable<RunSnapshot['shardCounts']>;

/** What the stock launcher leaves of a run. */
export interface StockResult {
  /** Of the bundle. */
  readonly path: string;
  readonly problems: number;
  readonly repeats: number;
  readonly answered: number;
  readonly rewardSum: number;
  readonly endpointErrors: number;
  readonly scores: Record<string, Score>;
  readonly categories: Record<string, { mean_reward: number; n: number }>;
}

/** What the extension itself sees of the run's Ray job. Ray alone decides whether a run goes on. */
export type JobEvent =
  | {
      readonly type: 'job';
      readonly status: 'PENDING' | 'RUNNING' | 'SUCCEEDED' | 'FAILED' | 'STOPPED';
      readonly message: string | undefined;
      /** Milliseconds since 1970, when the job has ended. */
      readonly endedAt: number | undefined;
    }
  /** The cluster does not answer; the reason is a sentence. */
  | {
      readonly type: 'unheard';
      readonly since: number;
      readonly fate: ClusterFate;
      readonly reason?: string | undefined;
    }
  /** The job's log cannot be read as it should be, or can again. */
  | { readonly type: 'log'; readonly trouble: LogTrouble | undefined }
  /** How far the shards of a run of the stock launcher are. */
  | { readonly type: 'tasks'; readonly counts: ShardCounts }
  /** What the stock launcher left was found on this machine. */
  | { readonly type: 'stock_result'; readonly result: StockResult }
  /** The results are on this machine now. */
  | { readonly type: 'fetched'; readonly folder: string; readonly bundle: string | null }
  | { readonly type: 'not_fetched'; readonly message: string }
  /** The request never became a job. */
  | { readonly type: 'not_submitted'; readonly message: string; readonly at: number };

export type RunEvent = DriverEvent | JobEvent;

/**
 * What has become of a cluster that does not answer: nothing that is known; this window has left it and may join it
 * again; it has ended, and never will answer; or it answers, and does not know the job any more.
 */
export type ClusterFate = 'silent' | 'left' | 'gone' | 'forgotten';

/**
 * The log is not there any more; it holds less than it did; what stands in it is not understood; or the cluster fails to
 * hand it out, for a reason in a sentence.
 */
export type LogTrouble =
  | { readonly kind: 'gone' }
  | { readonly kind: 'cut' }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'unreadable'; readonly reason: string };

interface ShardFold {
  readonly start: number;
  readonly end: number;
  phase: ShardPhase;
  attempt: number;
  message: string | null;
  /** By position and repeat, so that a line that comes twice counts once. */
  readonly answers: Map<number, CompactAnswer>;
  rewardSum: number;
  tokens: number;
  readonly outcomes: Record<AnswerOutcome, number>;
  /** The median and the number of answers it was taken over: sorting anew at each drawing would cost more than it tells. */
  median: { over: number; ms: number | null };
}

export interface RunState {
  facts: RunFacts;
  status: RunStatus;
  stage: DriverStage | null;
  message: string | null;
  reason: FailureReason | null;
  endedAt: number | null;
  lastHeardAt: number | null;
  lastAnswerAt: number | null;
  problems: number;
  shards: ShardFold[];
  scores: Record<string, Score> | null;
  categories: Record<string, { mean_reward: number; n: number }> | null;
  bundlePath: string | null;
  logTrouble: LogTrouble | null;
  shardCounts: ShardCounts | null;
  stockResult: StockResult | null;
  /** Where the results can be fetched from, when they are not on this machine. */
  files: Extract<DriverEvent, { type: 'files' }> | null;
  /** The driver's own last word. What the job's end means is read from it. */
  end: Extract<DriverEvent, { type: 'end' }> | null;
}

/** The state before the first event. */
export function initialRunState(facts: RunFacts): RunState {
  return {
    facts,
    status: 'submitting',
    stage: null,
    message: null,
    reason: null,
    endedAt: null,
    lastHeardAt: null,
    lastAnswerAt: null,
    problems: 0,
    shards: [],
    scores: null,
    categories: null,
    bundlePath: null,
    files: null,
    logTrouble: null,
    shardCounts: null,
    stockResult: null,
    end: null,
  };
}

/** Takes one event in. The state is changed in place (100,000 answers are not copied four times a second) and given back. */
export function apply(state: RunState, event: RunEvent): RunState {
  switch (event.type) {
    case 'stage':
      state.stage = event.stage;
      break;
    case 'start':
      applyStart(state, event);
      break;
    case 'shard':
      applyShardState(state, event);
      break;
    case 'answers':
      applyAnswers(state, event);
      break;
    case 'shard_done':
      applyShardDone(state, event);
      break;
    case 'merged':
      state.scores = event.scores;
      state.categories = event.categories;
      state.bundlePath = event.bundle;
      break;
    case 'files':
      state.files = event;
      break;
    case 'end':
      state.end = event;
      break;
    case 'job':
      applyJob(state, event);
      break;
    case 'unheard':
      applyUnheard(state, event);
      break;
    case 'log':
      state.logTrouble = event.trouble ?? null;
      break;
    case 'tasks':
      state.shardCounts = event.counts;
      break;
    case 'stock_result':
      state.stockResult = event.result;
      state.scores = event.result.scores;
      state.categories = event.result.categories;
      state.bundlePath = event.result.path;
      state.problems = event.result.problems;
      break;
    case 'fetched':
      state.bundlePath = event.bundle;
      break;
    case 'not_fetched':
      state.message = `${state.message ?? ''} ${event.message}`.trim();
      break;
    case 'not_submitted':
      Object.assign(state, { status: 'failed', reason: 'request', message: event.message, endedAt: event.at });
      break;
  }
  return state;
}

function applyStart(state: RunState, event: Extract<DriverEvent, { type: 'start' }>): void {
  state.problems = event.problems;
  // Of a run of another window nothing else tells these.
  state.facts = {
    ...state.facts,
    repeats: event.repeats,
    outputFolder: state.facts.outputFolder || event.folder,
  };
  if (state.shards.length === 0) {
    state.shards = event.ranges.map(([start, end]) => newShard(start, end));
  }
}

function newShard(start: number, end: number): ShardFold {
  return {
    start,
    end,
    phase: 'waiting',
    attempt: 0,
    message: null,
    answers: new Map(),
    rewardSum: 0,
    tokens: 0,
    outcomes: noOutcomes(),
    median: { over: 0, ms: null },
  };
}

function noOutcomes(): Record<AnswerOutcome, number> {
  return { ok: 0, endpoint_error: 0, truncated: 0, empty: 0, judge_error: 0 };
}

function applyShardState(state: RunState, event: Extract<DriverEvent, { type: 'shard' }>): void {
  const shard = state.shards[event.shard];
  // The line of an earlier try may come after the first of a later one.
  if (!shard || shard.phase === 'done' || event.attempt < shard.attempt) {
    return;
  }
  shard.attempt = event.attempt;
  shard.phase = event.state === 'queued' ? 'waiting' : event.state;
  shard.message = event.message ?? null;
}

function applyAnswers(state: RunState, event: Extract<DriverEvent, { type: 'answers' }>): void {
  const shard = state.shards[event.shard];
  if (!shard) {
    return;
  }
  for (const answer of event.answers) {
    addAnswer(state, shard, answer);
  }
  if (event.answers.length > 0) {
    state.lastAnswerAt = Math.max(state.lastAnswerAt ?? 0, event.t * 1000);
  }
}

function applyShardDone(state: RunState, event: Extract<DriverEvent, { type: 'shard_done' }>): void {
  const shard = state.shards[event.shard];
  if (!shard) {
    return;
  }
  shard.attempt = event.attempt;
  shard.phase = 'done';
  shard.message = null;
}

function addAnswer(state: RunState, shard: ShardFold, answer: CompactAnswer): void {
  const [position, , repeat, reward, , tokens, outcome] = answer;
  const key = position * state.facts.repeats + repeat;
  const before = shard.answers.get(key);
  if (before) {
    shard.rewardSum -= before[3];
    shard.tokens -= before[5];
    shard.outcomes[before[6]] -= 1;
  }
  shard.answers.set(key, answer);
  shard.rewardSum += reward;
  shard.tokens += tokens;
  shard.outcomes[outcome] += 1;
}

function applyJob(state: RunState, event: Extract<JobEvent, { type: 'job' }>): void {
  state.lastHeardAt = null;
  switch (event.status) {
    case 'PENDING':
      state.status = 'pending';
      state.message = null;
      return;
    case 'RUNNING':
      state.status = 'running';
      state.message = null;
      return;
    default:
      if (state.facts.origin === 'stock') {
        applyStockEnd(state, event);
      } else {
        applyJobEnd(state, event);
      }
  }
}

function applyJobEnd(state: RunState, event: Extract<JobEvent, { type: 'job' }>): void {
  state.endedAt = event.endedAt ?? state.endedAt;
  const end = state.end;
  if (event.status === 'STOPPED' && !end) {
    state.status = 'stopped';
    state.message = 'Cancelled. The answers that had come are kept in the output folder.';
  } else if (end) {
    // A job that "succeeded" with endpoint errors is partial, one that the driver failed may have said why, and one that
    // was stopped may have been merged before.
    state.status = end.outcome;
    state.reason = end.reason ?? null;
    state.message = end.message;
  } else if (state.logTrouble !== null && state.logTrouble.kind !== 'cut') {
    // The driver leaves without an error only when every answer is there and scored; what it said of them was not heard.
    const hasSucceeded = event.status === 'SUCCEEDED';
    state.status = hasSucceeded ? 'partial' : 'failed';
    state.reason = hasSucceeded ? null : 'internal';
    state.message = hasSucceeded
      ? `Ray says that the run succeeded, but its log cannot be read, so its end was not heard. The score and all answers are in ${state.facts.outputFolder}.`
      : `The run ended, and its log cannot be read, so the reason was not heard. ${lastLine(event.message)} What came is kept in ${state.facts.outputFolder}.`;
  } else {
    state.status = 'failed';
    state.reason = 'internal';
    state.message = `The driver ended without a last word. ${lastLine(event.message)} The log has the rest.`;
  }
  for (const shard of state.shards) {
    if (shard.phase === 'running' || shard.phase === 'waiting') {
      shard.phase = 'failed';
      shard.message ??= state.status === 'stopped' ? 'Stopped before it was done' : 'Ended before it was done';
    }
  }
}

/** The stock launcher says nothing of its own end: it leaves with 0 also when not one question was answered. */
function applyStockEnd(state: RunState, event: Extract<JobEvent, { type: 'job' }>): void {
  const { stockResult: result, facts } = state;
  state.endedAt = event.endedAt ?? null;
  if (event.status === 'STOPPED') {
    state.status = 'stopped';
    state.message = 'Stopped. The stock launcher keeps nothing of a run that did not end by itself.';
  } else if (event.status === 'FAILED') {
    state.status = 'failed';
    state.reason = 'internal';
    state.message = `The stock launcher failed, and keeps nothing then. ${lastLine(event.message)}`;
  } else if (!result) {
    state.status = 'partial';
    state.message = `Ray says that the job succeeded, which the stock launcher says also when no question was answered. Its results are not on this machine: it was to write them to ${facts.outputFolder}.`;
  } else if (result.endpointErrors >= result.answered) {
    state.status = 'failed';
    state.reason = 'endpoint';
    state.message = `Not one of ${result.answered} questions was answered by the endpoint. The stock launcher scores that 0.`;
  } else {
    state.status = result.endpointErrors > 0 ? 'partial' : 'complete';
    state.message = null;
  }
}

function troubleWords(trouble: LogTrouble): string {
  switch (trouble.kind) {
    case 'gone':
      return 'The log of this run is gone from the cluster, so how far it is cannot be heard. Whether it goes on Ray still tells.';
    case 'cut':
      return 'The log of this run was cut on the cluster. What had been heard before is kept.';
    case 'unknown':
      return 'This run tells its progress in a way that this version of Shardboard does not know: another version submitted it. Whether it goes on Ray still tells.';
    case 'unreadable':
      return `The log of this run cannot be read, so how far it is cannot be heard. ${trouble.reason}`;
  }
}

function lastLine(text: string | undefined): string {
  const line = text?.trim().split('\n').at(-1)?.trim();
  return line ? `Ray says: ${line.slice(0, 300).replace(/[.\s]*$/, '')}.` : 'Ray gives no reason.';
}

function applyUnheard(state: RunState, event: Extract<JobEvent, { type: 'unheard' }>): void {
  if (hasEnded(state.status)) {
    return;
  }
  state.lastHeardAt = event.since;
  if (event.fate === 'silent') {
    state.message = event.reason ?? null;
  }
  if (event.fate === 'forgotten') {
    state.status = 'lost';
    state.message = `The cluster does not know the job of this run any more: somebody deleted it. The answers that had come are kept in ${state.facts.outputFolder}.`;
  }
  if (event.fate === 'left') {
    state.status = 'lost';
    state.message = 'This window has left the cluster that runs this benchmark. Join it again to follow the run.';
  }
  if (event.fate === 'gone') {
    state.status = 'lost';
    state.message = `The cluster that ran this benchmark is gone. The answers that had come are kept in ${state.facts.outputFolder}.`;
  }
}

/** The run as it is drawn. */
export function snapshotOf(state: RunState): RunSnapshot {
  const { facts, stockResult } = state;
  const shards = state.shards.map((shard, index) => shardSnapshotOf(shard, index, facts.repeats));
  const sum = (pick: (shard: ShardFold) => number): number =>
    state.shards.reduce((total, shard) => total + pick(shard), 0);
  return {
    id: facts.id,
    benchmark: facts.benchmark,
    modelId: facts.modelId,
    clusterName: facts.clusterName,
    status: state.status,
    stage: state.stage,
    message: state.message ?? (state.logTrouble && troubleWords(state.logTrouble)),
    reason: state.reason,
    submittedAt: facts.submittedAt,
    endedAt: state.endedAt,
    lastHeardAt: state.lastHeardAt,
    lastAnswerAt: state.lastAnswerAt,
    repeats: stockResult?.repeats ?? facts.repeats,
    problems: state.problems,
    answered: stockResult?.answered ?? sum((shard) => shard.answers.size),
    expected: state.problems * (stockResult?.repeats ?? facts.repeats),
    rewardSum: stockResult?.rewardSum ?? sum((shard) => shard.rewardSum),
    tokens: sum((shard) => shard.tokens),
    endpointErrors: stockResult?.endpointErrors ?? sum((shard) => shard.outcomes.endpoint_error),
    truncated: sum((shard) => shard.outcomes.truncated),
    empty: sum((shard) => shard.outcomes.empty),
    shards,
    scores: state.scores,
    categories: state.categories,
    bundlePath: state.bundlePath,
    outputFolder: facts.outputFolder,
    origin: facts.origin ?? 'here',
    submittedBy: facts.submittedBy ?? null,
    shardCounts: state.shardCounts,
  };
}

function shardSnapshotOf(shard: ShardFold, index: number, repeats: number): ShardSnapshot {
  return {
    index,
    start: shard.start,
    end: shard.end,
    total: (shard.end - shard.start) * repeats,
    done: shard.answers.size,
    rewardSum: shard.rewardSum,
    endpointErrors: shard.outcomes.endpoint_error,
    medianLatencyMs: medianLatency(shard),
    phase: shard.phase,
    attempt: shard.attempt,
    message: shard.message,
  };
}

/** Taken anew when there is a fiftieth more than before, or when the shard has ended: sorting is dear, and it hardly moves. */
function medianLatency(shard: ShardFold): number | null {
  const over = shard.answers.size;
  const isDue = over > shard.median.over * 1.02 || shard.phase === 'done' || shard.phase === 'failed';
  if (over !== shard.median.over && isDue) {
    const latencies = Float64Array.from(shard.answers.values(), (answer) => answer[4]).sort();
    shard.median = { over, ms: latencies[Math.floor(latencies.length / 2)] ?? null };
  }
  return shard.median.ms;
}

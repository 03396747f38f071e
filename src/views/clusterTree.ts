import type { ClusterState } from '../cluster/service';
import type { ClusterActivity } from '../cluster/watch';
import type { RunSnapshot } from '../protocol/runSnapshot';
import { jobHasEnded, type RayJob, type RayNode } from '../ray/client';
import { countOf, formatAgo, formatSpan } from '../results-page/format';
import { originWords, statusWords } from '../results-page/words';
import { amountWords, memoryWords, usedCpus } from './clusterWords';

/** One line of the Cluster tree, without VS Code, with those below it. */
export interface ClusterLine {
  /** Stays the same while what it shows changes. */
  readonly id: string;
  readonly label: string;
  readonly description: string;
  readonly tooltip: string;
  /** A codicon, and a theme colour for it. */
  readonly icon: { readonly id: string; readonly color?: string } | undefined;
  /** What its menu goes by. */
  readonly context: string;
  /** The run whose results a click shows. */
  readonly run?: string;
  readonly children: readonly ClusterLine[];
}

export interface ClusterShown {
  readonly state: ClusterState;
  readonly activity: ClusterActivity;
  /** The run that this job is, if it is one: of this window or of others. */
  readonly runOf: (submissionId: string) => RunSnapshot | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** Beyond these, Ray's dashboard is the better place. */
const MOST_ENDED_JOBS = 30;
const MOST_DEAD_NODES = 10;

const JOB = 'job/';

/** The submission id of the job that a line is about; undefined for every other line and thing. */
export function jobOfLine(line: unknown): string | undefined {
  return typeof line === 'string' && line.startsWith(JOB) ? line.slice(JOB.length) : undefined;
}

/** The lines at the top of the tree: none when there is no cluster, so that the view's welcome is shown. */
export function clusterLines(shown: ClusterShown): readonly ClusterLine[] {
  const { state } = shown;
  switch (state.kind) {
    case 'none':
      return [];
    case 'starting':
      return [busyLine('Ray is starting', state.stage)];
    case 'stopping':
      return [busyLine('Ray is stopping', '')];
    case 'running':
      return [runningLine(state, shown)];
  }
}

function busyLine(label: string, description: string): ClusterLine {
  const icon = { id: 'loading~spin' };
  return { id: 'cluster', label, description, tooltip: '', icon, context: 'busyCluster', children: [] };
}

/** Ray's ports cannot be kept on loopback, except for the dashboard's. */
const WHO_CAN_REACH_IT =
  'Its dashboard listens on this machine only, its other ports on every network interface; a token protects them.';

function runningLine(state: ClusterState & { kind: 'running' }, shown: ClusterShown): ClusterLine {
  const { silence, origin } = state;
  const place = new URL(state.dashboardUrl).host;
  const lastHeard = silence && `last heard at ${new Date(silence.lastHeard).toLocaleTimeString()}`;
  return {
    id: 'cluster',
    label: origin === 'started' ? 'Local Ray cluster' : 'Joined Ray cluster',
    description: lastHeard ? `${lastHeard}, ${place}` : `${place}, Ray ${state.rayVersion}`,
    tooltip: [
      `Dashboard: ${state.dashboardUrl}`,
      ...(state.gcsAddress === undefined ? [] : [`Address for ray.init: ${state.gcsAddress}`]),
      `Session: ${state.sessionName}`,
      ...(origin === 'started' ? [WHO_CAN_REACH_IT] : []),
      ...(silence ? [silence.reason, 'What stands below is what was heard then.'] : []),
    ].join('\n'),
    icon: silence
      ? { id: 'warning', color: 'problemsWarningIcon.foreground' }
      : { id: 'pass', color: 'testing.iconPassed' },
    context: origin === 'started' ? 'startedCluster' : 'joinedCluster',
    children: [nodesLine(state.nodes, shown.activity), ...jobsLine(shown)],
  };
}

function nodesLine(nodes: readonly RayNode[], activity: ClusterActivity): ClusterLine {
  const head = nodes.filter(({ isHead, state }) => isHead && state === 'ALIVE');
  const others = nodes.filter(({ isHead, state }) => !isHead && state === 'ALIVE');
  const dead = nodes.filter(({ state }) => state === 'DEAD').map((node) => nodeLine(node, activity));
  return {
    id: 'nodes',
    label: 'Nodes',
    description: usedCpus(nodes, activity.usage),
    tooltip: '',
    icon: undefined,
    context: 'nodes',
    children: [
      ...[...head, ...others].map((node) => nodeLine(node, activity)),
      ...atMost(MOST_DEAD_NODES, dead, 'deadNodes', 'more dead node'),
    ],
  };
}

function nodeLine(node: RayNode, { usage, memory }: ClusterActivity): ClusterLine {
  const isDead = node.state === 'DEAD';
  const used = usage?.get(node.id);
  const machine = memory?.get(node.id);
  const parts = isDead
    ? ['dead']
    : [
        amountWords(used?.cpus, node.cpus, 'CPU'),
        ...(machine ? [memoryWords(machine)] : []),
        ...(node.gpus > 0 ? [amountWords(used?.gpus, node.gpus, 'GPU')] : []),
      ];
  return {
    id: `node/${node.id}`,
    label: node.ip,
    description: [...(node.isHead ? ['head'] : []), ...parts].join(', '),
    tooltip: [
      `Node ${node.id}, ${node.state.toLowerCase()}`,
      ...(node.message === undefined ? [] : [node.message]),
      ...(isDead
        ? []
        : ['CPUs and GPUs: what tasks have taken of what Ray gives. Memory: what the machine uses of all.']),
    ].join('\n'),
    icon: isDead ? { id: 'error', color: 'problemsErrorIcon.foreground' } : { id: 'server' },
    context: 'node',
    children: [],
  };
}

/** None while Ray was not asked, which it is as soon as the tree is to be seen. */
function jobsLine(shown: ClusterShown): readonly ClusterLine[] {
  const { jobs } = shown.activity;
  if (!jobs) {
    return [];
  }
  const byStart = [...jobs].sort((a, b) => (b.startedAt ?? 0) - (a.startedAt ?? 0));
  const going = byStart.filter((job) => !jobHasEnded(job));
  const ended = byStart.filter(jobHasEnded).map((job) => jobLine(job, shown));
  return [
    {
      id: 'jobs',
      label: 'Jobs',
      description: jobs.length === 0 ? 'none' : going.length === 0 ? 'none running' : `${going.length} running`,
      tooltip: '',
      icon: undefined,
      context: 'jobs',
      children: [
        ...going.map((job) => jobLine(job, shown)),
        ...atMost(MOST_ENDED_JOBS, ended, 'endedJobs', 'older job'),
      ],
    },
  ];
}

function jobLine(job: RayJob, { runOf, now }: ClusterShown): ClusterLine {
  const run = job.submissionId === undefined ? undefined : runOf(job.submissionId);
  const id = job.submissionId ?? job.jobId ?? '';
  const isOwn = run?.origin === 'here';
  const status = (isOwn ? statusWords(run) : job.status).toLowerCase();
  const hasEnded = jobHasEnded(job);
  const since = hasEnded
    ? job.endedAt !== undefined && formatAgo(now - job.endedAt)
    : job.startedAt !== undefined && `for ${formatSpan(now - job.startedAt)}`;
  const canBeStopped = job.submissionId !== undefined && !hasEnded;
  return {
    id: `${JOB}${id}`,
    label: isOwn ? run.benchmark : jobName(job),
    description: `${[status, ...(since ? [since] : [])].join(' ')}, ${isOwn ? 'this window' : jobOrigin(job)}`,
    tooltip: [
      `${job.submissionId === undefined ? 'Job' : 'Submission'} ${id}`,
      job.entrypoint,
      ...(run ? [`Model: ${run.modelId}`] : []),
      ...(run && !isOwn ? [originWords(run)] : []),
      // Beyond its first line stands a traceback or a log.
      ...(hasEnded && job.message !== undefined ? [job.message.split('\n')[0] ?? ''] : []),
    ].join('\n'),
    icon: JOB_ICONS[job.status],
    context: `${canBeStopped ? 'running' : job.submissionId === undefined ? 'script' : 'ended'}${run ? 'Run' : ''}Job`,
    ...(run && { run: id }),
    children: [],
  };
}

const JOB_ICONS: Readonly<Record<RayJob['status'], NonNullable<ClusterLine['icon']>>> = {
  PENDING: { id: 'watch' },
  RUNNING: { id: 'play-circle', color: 'charts.blue' },
  SUCCEEDED: { id: 'pass', color: 'testing.iconPassed' },
  FAILED: { id: 'error', color: 'testing.iconFailed' },
  STOPPED: { id: 'circle-slash' },
};

const STOCK_LAUNCHER = /\bnemo_evaluator\.engine\.ray_launcher\b/;
const OUR_DRIVER = /\bshardboard_driver\b/;

/** Who started a job that is not a run of this window. */
function jobOrigin(job: RayJob): string {
  if (STOCK_LAUNCHER.test(job.entrypoint)) {
    return 'stock launcher';
  }
  if (OUR_DRIVER.test(job.entrypoint)) {
    return 'another window';
  }
  return job.type === 'DRIVER' ? 'a script' : 'submitted elsewhere';
}

/** What a person would call it: its benchmark, else its program. */
function jobName({ entrypoint, metadata }: RayJob): string {
  const option = /\s(?:--benchmark|-b)(?:=|\s+)(\S+)/.exec(entrypoint)?.[1];
  const benchmark = metadata.benchmark ?? (STOCK_LAUNCHER.test(entrypoint) ? option : undefined);
  const program = /[^\s/]+\.py\b/.exec(entrypoint)?.[0];
  const name = benchmark?.split('/').at(-1) ?? program ?? entrypoint;
  return name.length > 40 ? `${name.slice(0, 39)}…` : name;
}

/** The first lines, and one that says how many there are besides. */
function atMost(most: number, lines: readonly ClusterLine[], id: string, what: string): readonly ClusterLine[] {
  const rest = lines.length - most;
  return rest <= 0
    ? lines
    : [
        ...lines.slice(0, most),
        {
          id,
          label: countOf(rest, what),
          description: 'in the dashboard',
          tooltip: '',
          icon: { id: 'ellipsis' },
          context: 'more',
          children: [],
        },
      ];
}

/** All lines by their ids. */
export function linesById(lines: readonly ClusterLine[]): ReadonlyMap<string, ClusterLine> {
  return new Map(lines.flatMap((line) => [[line.id, line], ...linesById(line.children)] as const));
}

/** The ids of the lines that have to be drawn anew; undefined when the top of the tree is another. */
export function changedLines(
  before: readonly ClusterLine[],
  after: readonly ClusterLine[],
): readonly string[] | undefined {
  if (idsOf(before) !== idsOf(after)) {
    return undefined;
  }
  const old = linesById(before);
  return [...linesById(after).values()].filter((line) => face(old.get(line.id)) !== face(line)).map(({ id }) => id);
}

function face(line: ClusterLine | undefined): string {
  return line ? JSON.stringify({ ...line, children: idsOf(line.children) }) : '';
}

function idsOf(lines: readonly ClusterLine[]): string {
  return lines.map(({ id }) => id).join('\n');
}

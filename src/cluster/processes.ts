import { readdir, readFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { hasCode, UserError } from '../common/userError';
import { runProcess } from '../python/process';
import { isFromThisBoot, processIdentity } from './processIdentity';

export interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** Milliseconds since 1970, exact to a second. */
  readonly startedAt: number;
  readonly commandLine: string;
}

/** What tells a cluster's processes from all others. */
export interface ProcessOwner {
  /** All of Ray's daemons stay in the process group of the `ray start` that made them. */
  readonly processGroup: number;
  /** The identity of that `ray start`: the group's number may go to somebody else once the cluster is gone. */
  readonly leader: string;
  /** The cluster's own folder, whose random name stands in the command line of its main processes. */
  readonly folder: string;
}

/** Stands, with the cluster's folder, in the environment of all that a cluster starts; nothing else is given it. */
export const CLUSTER_MARK = 'SHARDBOARD_CLUSTER';

const KILL_LIMIT_MS = 10_000;
const LOOK_EVERY_MS = 100;

/**
 * The processes of the machine, but not those that have ended and only wait for their parent to take notice.
 *
 * @param whose `own` leaves out those of other users
 */
export async function listProcesses(whose: 'all' | 'own' = 'all'): Promise<readonly ProcessRow[]> {
  const which = whose === 'own' ? ['-U', String(userInfo().uid)] : ['-A'];
  // One -o for each column: joined by commas, what follows the first = may be read as one long heading.
  const columns = ['pid', 'ppid', 'pgid', 'stat', 'lstart', 'args'].flatMap((column) => ['-o', `${column}=`]);
  const result = await runProcess('ps', [...which, '-ww', ...columns], {
    // The dates are read, so they must not be in the user's language.
    env: { ...process.env, LC_ALL: 'C' },
    limitMs: 10_000,
  }).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) {
      throw new UserError('The program ps is missing on this machine. Install it (on Debian: procps) and try again.');
    }
    throw error;
  });
  return parseProcesses(result.stdout);
}

/** Reads what `ps` wrote. */
export function parseProcesses(text: string): readonly ProcessRow[] {
  const rows: ProcessRow[] = [];
  for (const line of text.split('\n')) {
    const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\w+\s+\w+\s+\d+\s+[\d:]+\s+\d+)\s?(.*)$/.exec(line);
    const [, pid, parent, group, state, start = '', commandLine = ''] = match ?? [];
    // A zombie holds nothing but its id. Where init does not reap, it stays for ever.
    if (match && !state?.startsWith('Z')) {
      rows.push({
        pid: Number(pid),
        parent: Number(parent),
        group: Number(group),
        startedAt: Date.parse(start),
        commandLine,
      });
    }
  }
  return rows;
}

/**
 * The processes of a cluster: its group, and everything that descends from it (workers, job supervisors and drivers
 * have groups of their own). None when no process of the group names the cluster's folder: the group's number then
 * belongs to somebody else.
 *
 * @param known processes that are known to be the cluster's, so that what outlived its parent is still found.
 */
export function clusterProcesses(
  rows: readonly ProcessRow[],
  owner: Pick<ProcessOwner, 'processGroup' | 'folder'>,
  known: readonly ProcessRow[] = [],
): readonly ProcessRow[] {
  const group = rows.filter((row) => row.group === owner.processGroup);
  const isOurs = group.some((row) => row.commandLine.includes(`${owner.folder}/`));
  const found = new Set(isOurs ? group : []);
  for (const row of rows) {
    if (known.some((one) => isSameProcess(one, row))) {
      found.add(row);
    }
  }
  // A set grows while it is walked, so grandchildren are found too.
  for (const parent of found) {
    for (const row of rows) {
      if (row.parent === parent.pid) {
        found.add(row);
      }
    }
  }
  return [...found];
}

/**
 * The processes of a cluster that run now, those included that a job has put into the background for good: they carry the
 * cluster's mark. None of a cluster from before the machine was started, and none of a group that somebody else has now.
 *
 * @param known as for `clusterProcesses`
 */
export async function listClusterProcesses(
  owner: ProcessOwner,
  known: readonly ProcessRow[] = [],
): Promise<readonly ProcessRow[]> {
  if (!(await isFromThisBoot(owner.leader))) {
    return [];
  }
  const [rows, marked, leader] = await Promise.all([
    listProcesses(),
    pidsWithMark(`${CLUSTER_MARK}=${owner.folder}`),
    processIdentity(owner.processGroup),
  ]);
  const isTaken = leader !== undefined && leader !== owner.leader;
  const possible = isTaken ? rows.filter((row) => row.group !== owner.processGroup) : rows;
  return clusterProcesses(possible, owner, [...known, ...possible.filter((row) => marked.has(row.pid))]);
}

/** Only of the user's own processes: the environment of others cannot be read, and none of them is ours. */
async function pidsWithMark(mark: string): Promise<ReadonlySet<number>> {
  if (process.platform !== 'linux') {
    const { stdout } = await runProcess('ps', ['-axEww', '-o', 'pid=,command='], { limitMs: 10_000 });
    const lines = stdout.split('\n').filter((line) => ` ${line} `.includes(` ${mark} `));
    return new Set(lines.map((line) => Number.parseInt(line, 10)));
  }
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const environments = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '')));
  return new Set(pids.filter((_, index) => environments[index]?.split('\0').includes(mark)).map(Number));
}

/**
 * Ends a cluster's processes and nothing else, and returns when none is left.
 *
 * @param graceMs how long they may take to end by themselves before they are killed.
 * @throws UserError when some cannot be ended.
 */
export async function endClusterProcesses(owner: ProcessOwner, graceMs: number): Promise<void> {
  const begin = Date.now();
  let left = await listClusterProcesses(owner);
  if (graceMs > 0) {
    send('SIGTERM', left);
  }
  while (left.length > 0) {
    const elapsed = Date.now() - begin;
    if (elapsed > graceMs + KILL_LIMIT_MS) {
      throw new UserError(
        `Some processes of the Ray cluster could not be ended: ${left.map((row) => row.pid).join(', ')}.`,
      );
    }
    if (elapsed >= graceMs) {
      // gcs_server, raylet and the autoscaler's monitor were seen alive minutes after SIGTERM.
      send('SIGKILL', left);
    }
    await wait(LOOK_EVERY_MS);
    left = await listClusterProcesses(owner, left);
  }
}

function send(signal: NodeJS.Signals, rows: readonly ProcessRow[]): void {
  for (const row of rows) {
    try {
      process.kill(row.pid, signal);
    } catch (error) {
      if (!hasCode(error, 'ESRCH')) {
        throw error;
      }
    }
  }
}

/** The same id is not enough: ids are used again. Not its command line either: Ray's workers change theirs. */
function isSameProcess(one: ProcessRow, other: ProcessRow): boolean {
  return one.pid === other.pid && Math.abs(one.startedAt - other.startedAt) <= 2000;
}

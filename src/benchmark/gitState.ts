import { programsOnPath } from '../python/findPrograms';
import { runProcess } from '../python/process';

/** A repository on a network disk can take long, and a run must not wait for what only describes it. */
const LIMIT_MS = 5000;

/** What is not the user's work: a run's own results would make every later run's repository look changed. */
const NOT_LOOKED_AT = ['.', ':(exclude,glob)**/shardboard-results/**'];

/** The commit that a folder is at, and whether the folder has changes that are not committed. */
export interface GitState {
  readonly commit: string;
  readonly isDirty: boolean;
}

/** Where a folder stands in its git repository; undefined where there is no git, no repository, no commit or no answer in time. */
export async function gitStateOf(folder: string, path = process.env.PATH): Promise<GitState | undefined> {
  const [git] = await programsOnPath('git', path);
  if (git === undefined) {
    return undefined;
  }
  const ask = async (...args: readonly string[]): Promise<string | undefined> => {
    // No lock that a person's own git would run into, and no program that the repository's configuration names.
    const options = ['--no-optional-locks', '-c', 'core.fsmonitor=false', '-C', folder];
    const { exitCode, stdout } = await runProcess(git, [...options, ...args], { limitMs: LIMIT_MS });
    return exitCode === 0 ? stdout.trim() : undefined;
  };
  try {
    const commit = await ask('rev-parse', '--verify', 'HEAD');
    const changes = await ask('status', '--porcelain', '--', ...NOT_LOOKED_AT);
    return commit === undefined || changes === undefined ? undefined : { commit, isDirty: changes !== '' };
  } catch {
    return undefined;
  }
}

import { UserError } from '../common/userError';

/** What a started cluster may use of this machine, as settings give it. What is null Ray decides by itself. */
export interface ClusterResources {
  readonly numCpus: number | null;
  readonly numGpus: number | null;
  /** GiB, for the workers. */
  readonly memory: number | null;
  /** GiB, of shared memory. */
  readonly objectStoreMemory: number | null;
}

export const RAYS_CHOICE: ClusterResources = { numCpus: null, numGpus: null, memory: null, objectStoreMemory: null };

const GIB = 1024 ** 3;

/**
 * The arguments for `ray start`.
 *
 * @throws UserError when a setting holds what Ray would refuse: VS Code only underlines that.
 */
export function resourceArguments(resources: ClusterResources): readonly string[] {
  const whole = (name: 'numCpus' | 'numGpus', flag: string): string[] => {
    const value = resources[name];
    check(name, value, value === null || (Number.isInteger(value) && value >= 0), 'a whole number from 0 on');
    return value === null ? [] : [`${flag}=${value}`];
  };
  const gibibytes = (name: 'memory' | 'objectStoreMemory', flag: string): string[] => {
    const value = resources[name];
    // Below 75 MiB Ray makes no object store.
    check(name, value, value === null || (Number.isFinite(value) && value >= 0.1), 'a number of GiB from 0.1 on');
    return value === null ? [] : [`${flag}=${Math.round(value * GIB)}`];
  };
  return [
    ...whole('numCpus', '--num-cpus'),
    ...whole('numGpus', '--num-gpus'),
    ...gibibytes('memory', '--memory'),
    ...gibibytes('objectStoreMemory', '--object-store-memory'),
  ];
}

function check(name: keyof ClusterResources, value: number | null, isRight: boolean, wanted: string): void {
  if (!isRight) {
    const setting = `shardboard.cluster.${name}`;
    throw new UserError(`The setting ${setting} is ${value}. It must be ${wanted}, or null to leave it to Ray.`, [
      { title: 'Open setting', command: 'shardboard.openSetting', args: [setting] },
    ]);
  }
}

import { readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as v from 'valibot';
import { namesIn } from '../python/sitePackages';
import type { GymVersion } from './verdict';

/** The nemo-gym of a Python environment. */
export interface GymInstallation {
  /** The folder that holds `nemo_gym`, and Gym's own servers beside it. */
  readonly root: string;
  readonly version: GymVersion;
}

const DirectUrl = v.object({ url: v.string(), dir_info: v.object({ editable: v.literal(true) }) });

/** Finds nemo-gym among the packages of an environment by looking at its files; undefined when it is not there. */
export async function findGym(sitePackages: readonly string[]): Promise<GymInstallation | undefined> {
  for (const packages of sitePackages) {
    for (const name of await namesIn(packages)) {
      const version = /^nemo_gym-(.+)\.dist-info$/.exec(name)?.[1];
      if (version !== undefined) {
        return { root: await rootOf(packages, name), version: gymVersionOf(version) };
      }
    }
  }
  return undefined;
}

/** Which of Gym's ways with Ray a version has. */
export function gymVersionOf(version: string): GymVersion {
  const [major, minor] = version.split('.').map((part) => Number.parseInt(part, 10));
  if (major === undefined || minor === undefined || Number.isNaN(major) || Number.isNaN(minor)) {
    return 'unknown';
  }
  if (major === 0 && minor < 7) {
    return 'before 0.7';
  }
  return major === 0 && minor === 7 ? '0.7' : 'later';
}

/** An editable installation runs from the checkout that it was made of. */
async function rootOf(packages: string, distInfo: string): Promise<string> {
  try {
    const text = await readFile(join(packages, distInfo, 'direct_url.json'), 'utf8');
    return await realpath(fileURLToPath(v.parse(DirectUrl, JSON.parse(text)).url));
  } catch {
    return packages;
  }
}

/** The versions of a cluster on which benchmarks are run: stated here and nowhere else. */
const OLDEST_RAY = [2, 49] as const;
const PYTHONS = ['3.12', '3.13'];

export const supportedVersions = `Ray ${OLDEST_RAY.join('.')} or a later 2.x, on Python ${PYTHONS.join(' or ')}`;

/** Whether benchmarks run on a cluster of these versions, as it tells them itself. */
export function isSupported(rayVersion: string, pythonVersion: string): boolean {
  const [major, minor] = rayVersion.split('.').map(Number);
  const isRay = major === OLDEST_RAY[0] && minor !== undefined && minor >= OLDEST_RAY[1];
  return isRay && PYTHONS.some((python) => pythonVersion.startsWith(`${python}.`));
}

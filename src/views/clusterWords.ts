import type { ClusterActivity } from '../cluster/watch';
import type { RayNode } from '../ray/client';

/** "1.5 of 2 CPUs", with what is taken when Ray tells it. */
export function amountWords(used: number | undefined, total: number, unit: string): string {
  const units = total === 1 ? unit : `${unit}s`;
  return used === undefined ? `${short(total)} ${units}` : `${short(used)} of ${short(total)} ${units}`;
}

/** Of all nodes that are alive. */
export function usedCpus(nodes: readonly RayNode[], usage: ClusterActivity['usage']): string {
  const alive = nodes.filter(({ state }) => state === 'ALIVE');
  const sum = (part: (node: RayNode) => number): number => alive.reduce((total, node) => total + part(node), 0);
  const known = alive.some(({ id }) => usage?.has(id));
  return amountWords(known ? sum(({ id }) => usage?.get(id)?.cpus ?? 0) : undefined, sum(cpusOf), 'CPU');
}

/** Bytes, as "3.1 of 23.6 GiB". */
export function memoryWords({ used, total }: { readonly used: number; readonly total: number }): string {
  return `${gibibytes(used)} of ${gibibytes(total)} GiB`;
}

function cpusOf({ cpus }: RayNode): number {
  return cpus;
}

function gibibytes(bytes: number): string {
  return (bytes / 1024 ** 3).toFixed(1);
}

/** Tasks may take parts, down to a ten-thousandth. */
function short(amount: number): string {
  return String(Math.round(amount * 10) / 10);
}

import type { ClusterState } from '../cluster/service';
import type { ClusterActivity } from '../cluster/watch';
import { formatAgo } from '../results-page/format';
import { usedCpus } from './clusterWords';

export interface ClusterStatus {
  /** With a codicon. */
  readonly text: string;
  readonly tooltip: string;
  /** What a screen reader says; stays the same while only time goes by. */
  readonly spoken: string;
}

/** The cluster in the status bar. */
export function clusterStatus(state: ClusterState, { usage }: ClusterActivity, now: number): ClusterStatus {
  switch (state.kind) {
    case 'running': {
      const about = `Ray ${state.rayVersion} at ${state.dashboardUrl}, ${state.origin === 'started' ? 'started here' : 'joined'}`;
      if (state.silence) {
        const { lastHeard, reason } = state.silence;
        return {
          text: `$(warning) Ray: last heard ${formatAgo(now - lastHeard)}`,
          tooltip: `${about}.\n${reason}\nIt may well go on: it is asked again and again.`,
          spoken: `Ray cluster, last heard at ${new Date(lastHeard).toLocaleTimeString()}`,
        };
      }
      // Ray does not count yet in a cluster's first seconds.
      const words = usage === undefined || usage.size === 0 ? 'on' : usedCpus(state.nodes, usage);
      return { text: `$(pass) Ray: ${words}`, tooltip: about, spoken: `Ray cluster, ${words}` };
    }
    case 'starting':
      return { text: '$(sync~spin) Ray: starting', tooltip: state.stage, spoken: 'Ray cluster, starting' };
    case 'stopping':
      return { text: '$(sync~spin) Ray: stopping', tooltip: 'Ray is stopping', spoken: 'Ray cluster, stopping' };
    case 'none':
      return {
        text: '$(circle-outline) Ray: off',
        tooltip: state.message ?? 'No Ray cluster is running here. Show the cluster view',
        spoken: 'Ray cluster, none',
      };
  }
}

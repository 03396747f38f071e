import { PRACTICE } from '../benchmark/runPreset';
import type { NewRunKey } from '../benchmark/runs';
import { isHeadHere } from '../cluster/driverAccess';
import type { ClusterService } from '../cluster/service';
import type { ModelKeys } from './modelKeys';
import type { Asker } from './multiStep';

/** Whether a key in a file reaches the cluster: only one on this machine. To another it must be known already. */
export function canHandOverKeys(cluster: ClusterService): boolean {
  const state = cluster.state();
  return state.kind === 'running' && (state.origin === 'started' || isHeadHere(state.nodes));
}

/**
 * Asks where the key of an endpoint is.
 *
 * @param endpoint its address, or `practice`
 * @param variable the environment variable that is proposed
 */
export async function askKey(
  ask: Asker,
  { keys, cluster }: { readonly keys: ModelKeys; readonly cluster: ClusterService },
  endpoint: string,
  variable = 'NVIDIA_API_KEY',
): Promise<NewRunKey> {
  const canHandOver = canHandOverKeys(cluster);
  const stored = canHandOver && endpoint !== PRACTICE ? await keys.load(endpoint) : undefined;
  const none = { label: 'No key', description: 'The endpoint asks for none', answer: 'none' };
  const items = [
    ...(stored === undefined
      ? []
      : [{ label: 'Stored key', description: `Kept by VS Code for ${new URL(endpoint).host}`, answer: 'stored' }]),
    none,
    ...(canHandOver && endpoint !== PRACTICE
      ? [{ label: 'Enter a key…', description: "Kept in VS Code's secret storage", answer: 'enter' }]
      : []),
    {
      label: 'Environment variable on the cluster…',
      description: 'A variable that the cluster was started with',
      answer: 'environment',
    },
  ];
  const { answer } = await ask.pick({ placeholder: 'Which key', items });
  switch (answer) {
    case 'stored':
      return { source: 'value', value: stored ?? '' };
    case 'enter': {
      const value = await ask.input({
        prompt: 'Key of the endpoint',
        password: true,
        validate: (text) => (text === '' ? 'A key is needed here, or go back and choose none' : undefined),
      });
      await keys.save(endpoint, value);
      return { source: 'value', value };
    }
    case 'environment': {
      const name = await ask.input({
        prompt: 'Name of the environment variable',
        value: variable,
        validate: (text) =>
          /^[A-Za-z_][A-Za-z0-9_]*$/.test(text) ? undefined : 'A name of letters, digits and underscores',
      });
      return { source: 'environment', name };
    }
    default:
      return { source: 'none' };
  }
}

import type { PythonEnvironment } from '../../src/python/environment';

/** A virtual environment that has nothing of what we need. */
export const emptyEnvironment: PythonEnvironment = {
  python: '3.12.1',
  executable: '/env/bin/python',
  isOrdinary: true,
  isVirtual: true,
  isManaged: false,
  isWritable: true,
  pip: true,
  ensurepip: true,
  rayDefault: false,
  stockLauncher: false,
  scipy: false,
};

/** One that has all that a cluster needs, and nothing else. */
export const rayEnvironment: PythonEnvironment = { ...emptyEnvironment, ray: '2.60.0', rayDefault: true };

/** One that has all that a benchmark needs. */
export const completeEnvironment: PythonEnvironment = {
  ...rayEnvironment,
  nemoEvaluator: '0.3.0',
  stockLauncher: true,
  scipy: true,
};

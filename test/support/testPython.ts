/** The interpreter of the project's environment; the test runner makes the environment and names it here. */
export function testPython(): string {
  const python = process.env.SHARDBOARD_TEST_PYTHON;
  if (!python) {
    throw new Error(
      'SHARDBOARD_TEST_PYTHON must name a Python with ray[default] and nemo-evaluator[ray,stats]. Run `npm test`.',
    );
  }
  return python;
}

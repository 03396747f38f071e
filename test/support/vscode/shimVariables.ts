/** How the shim tells the runner in the extension host what to do: the names of the environment variables. */
export const variables = {
  /** The file that gets what the tests print. */
  output: 'SHARDBOARD_SHIM_OUTPUT',
  /** The file that gets how they ended; it is missing when they did not end. */
  outcome: 'SHARDBOARD_SHIM_OUTCOME',
  /** The real tests: a CommonJS module that exports `run`. */
  tests: 'SHARDBOARD_SHIM_TESTS',
} as const;

/** An error whose message is for the person at the terminal: what happened, why, and what to do next. */
export class SetupError extends Error {
  /** @override */
  name = 'SetupError';
}

const DISK_FULL = /ENOSPC|EDQUOT|no space left on device|os error 28\b|disk quota exceeded/i;

/**
 * What to print for anything that was thrown: a sentence, or for a fault of ours the error with its stack.
 *
 * @param {unknown} error
 * @returns {unknown}
 */
export function printable(error) {
  if (error instanceof SetupError) {
    return `\n${error.message}`;
  }
  return error instanceof Error && DISK_FULL.test(error.message)
    ? `\n${explainFailure('Writing a file', error.message)}`
    : error;
}

/**
 * The sentence for a tool that failed, from what it printed. npm, pip and uv word the same two troubles in many ways.
 *
 * @param {string} what what was being done, for example "Installing the npm packages"
 * @param {string} output all that the tool printed
 * @returns {string}
 */
export function explainFailure(what, output) {
  if (DISK_FULL.test(output)) {
    return `${what} failed: the disk is full. Free about 3 GB and run the same command again.`;
  }
  if (
    /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT|ERR_SOCKET_TIMEOUT|dns error|name resolution|NewConnectionError|ConnectTimeout|error sending request|failed to fetch|tcp connect error|network is unreachable/i.test(
      output,
    )
  ) {
    return `${what} failed: the package registry could not be reached. Check the network and the proxy settings, then run the same command again.`;
  }
  const lastLines = output
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line !== '')
    .slice(-12)
    .map((line) => `  ${line}`)
    .join('\n');
  return `${lastLines}\n${what} failed; the lines above are what the tool said last.`;
}

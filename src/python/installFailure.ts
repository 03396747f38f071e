/**
 * Why pip or uv failed, in one sentence, taken from what it wrote. Undefined when it gave no reason.
 *
 * @param output all that it wrote
 */
export function installFailure(output: string): string | undefined {
  const lines = withoutSecrets(output)
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !/^\[notice\]|^hint:/i.test(line));
  return full(lines) ?? unreachable(lines) ?? conflict(lines) ?? uvReason(lines) ?? lastMeaning(lines);
}

/** Puts stars in place of a name and password in an address: an index may be asked with them. */
export function withoutSecrets(text: string): string {
  return text.replace(/(\w:\/\/)[^\s/@]+@/g, '$1****@');
}

function full(lines: readonly string[]): string | undefined {
  return lines.some((line) => /No space left on device|Disk quota exceeded/.test(line))
    ? 'The disk is full. Make room and try again.'
    : undefined;
}

/** Without a network pip ends by saying that there is no such package, which is not so. */
function unreachable(lines: readonly string[]): string | undefined {
  const retrying = lines.find((line) => /^WARNING: Retrying \(|error sending request|Failed to fetch/.test(line));
  const isRefused = lines.some((line) => /Unauthorized|\b40[13]\b/.test(line));
  if (retrying === undefined || isRefused) {
    return undefined;
  }
  const reason = /'[\w.]*?(\w+Error)\([^)]*?: ([^']+?)'?\)/.exec(retrying)?.[2];
  return `The package index cannot be reached${reason === undefined ? '' : `: ${reason}`}. Check the network and try again.`;
}

/** pip's reason stands above a list of advice. */
function conflict(lines: readonly string[]): string | undefined {
  const start = lines.findIndex((line) => /^ERROR: Cannot install /.test(line));
  const cause = lines.findIndex((line) => /^The conflict is caused by:/.test(line));
  if (start < 0 || cause < 0) {
    return undefined;
  }
  const end = lines.findIndex((line, index) => index > cause && /^To fix this|^Additionally/.test(line));
  return `${sentence(lines[start] ?? '')} The conflict: ${lines.slice(cause + 1, end < 0 ? cause + 4 : end).join('; ')}.`;
}

/** uv draws its reason as a tree, over several lines. */
function uvReason(lines: readonly string[]): string | undefined {
  const start = lines.findIndex((line) => /^(?:×|╰─▶|├─▶)/.test(line));
  if (start < 0) {
    return undefined;
  }
  const told = lines.slice(start).map((line) => line.replace(/^(?:×|╰─▶|├─▶|│)\s*/, ''));
  return sentence(told.join(' '));
}

function lastMeaning(lines: readonly string[]): string | undefined {
  const isError = (line: string): boolean => /^(?:error|fatal)\b/i.test(line) && !/^error: exception:?$/i.test(line);
  const told =
    lines.findLast(isError) ?? lines.findLast((line) => /^[\w.]*(?:Error|Exception)\b.*:/.test(line)) ?? lines.at(-1);
  return told === undefined ? undefined : sentence(told);
}

const LONGEST = 300;

function sentence(line: string): string {
  const told = line.replace(/^(?:error|fatal):\s*/i, '').trim();
  const short = told.length > LONGEST ? `${told.slice(0, LONGEST)}…` : told;
  const upper = short.charAt(0).toUpperCase() + short.slice(1);
  return /[.!?…]$/.test(upper) ? upper : `${upper}.`;
}

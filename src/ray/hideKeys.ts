const HIDDEN = '<hidden>';
const SECRET_NAME = '[\\w-]*(?:key|token|secret|password|passwd|credentials?)';
/** The rest of a shell's word, quoted or not. */
const VALUE = `(?:"[^"]*"|'[^']*'|[^\\s"';&|]+)`;

const OPTION = new RegExp(`(--?${SECRET_NAME}(?:=|\\s+))(?!-)${VALUE}`, 'gi');
const ASSIGNMENT = new RegExp(`(\\b${SECRET_NAME}=)${VALUE}`, 'gi');
const BEARER = /(\bbearer\s+)[^\s"';&|]+/gi;
/** Keys whose makers gave them a telling start. */
const KNOWN_KEY = /\b(?:sk|nvapi|hf|ghp|xox[bp])[-_][\w-]{8,}/g;

/**
 * A command line, or a text with command lines in it, as it may be shown: people put keys there, and Ray hands them to
 * everybody who can read its jobs. What follows an option or a variable whose name speaks of a secret is hidden.
 */
export function hideKeys(text: string): string {
  return text
    .replace(OPTION, `$1${HIDDEN}`)
    .replace(ASSIGNMENT, `$1${HIDDEN}`)
    .replace(BEARER, `$1${HIDDEN}`)
    .replace(KNOWN_KEY, HIDDEN);
}

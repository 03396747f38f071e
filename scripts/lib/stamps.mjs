import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';

/**
 * A stamp is a small file that is written last, into a folder that took long to fill. It says what the folder was made
 * from: no stamp means half-made, another text means out of date.
 *
 * @param {string} path
 * @param {string} wanted
 * @returns {boolean} whether the stamp is there and says just this
 */
export function stampSays(path, wanted) {
  try {
    return readFileSync(path, 'utf8') === wanted;
  } catch {
    return false;
  }
}

/**
 * @param {string} path
 * @param {string} text
 */
export function writeStamp(path, text) {
  writeFileSync(path, text);
}

/**
 * @param {string} path
 * @returns {string} the hash of a file's content
 */
export function hashOfFile(path) {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

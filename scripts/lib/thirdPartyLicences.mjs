import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * The licence texts of the packages that go out with the extension, as their licences ask.
 *
 * @param {string} root the project's folder
 * @param {readonly string[]} files paths below the project's folder, of which those in node_modules count
 * @returns {Promise<string>}
 */
export async function thirdPartyLicences(root, files) {
  const names = files.flatMap((path) => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []);
  const texts = await Promise.all([...new Set(names)].sort().map((name) => licencesOf(root, name)));
  return texts.join('\n\n');
}

/**
 * @param {string} root
 * @param {string} name of a package
 * @returns {Promise<string>}
 */
async function licencesOf(root, name) {
  const folder = join(root, 'node_modules', name);
  const files = (await readdir(folder)).filter((entry) => /^licen[cs]e/i.test(entry));
  if (files.length === 0) {
    throw new Error(`The package ${name} has no licence file.`);
  }
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')));
  return [name, '='.repeat(name.length), ...texts].join('\n');
}

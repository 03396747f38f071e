import { executablesOnPath, isExecutable } from './processes.mjs';
import { SetupError } from './setupError.mjs';

/**
 * A Chromium or Chrome that is installed here, for the tests that need a window.
 *
 * @param {NodeJS.ProcessEnv} env
 * @returns {string} its path
 * @throws {SetupError} when there is none
 */
export function findChromium(env) {
  const candidates = [
    ...executablesOnPath(env.PATH, ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']),
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  ];
  const found = candidates.find(isExecutable);
  if (found === undefined) {
    throw new SetupError(
      'These tests show VS Code in Chromium, and there is neither Chromium nor Chrome here. Install one, for example with `apt-get install chromium`, and run the same command again.',
    );
  }
  return found;
}

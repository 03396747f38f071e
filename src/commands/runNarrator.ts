/** A run's course in lines of words, for a terminal. Pure. */
import type { RunSnapshot } from '../protocol/runSnapshot';
import { headline, headlineText } from '../results-page/headline';
import { statusSentence, statusWords } from '../results-page/words';

/** A line is worth writing after so much of the run. */
const STEP = 0.05;

/** Gives the line that there is to write, if any, for each state of the run. */
export function createRunNarrator(): (run: RunSnapshot) => string | undefined {
  let words: string | undefined;
  let told = 0;
  return (run) => {
    const share = run.expected === 0 ? 0 : run.answered / run.expected;
    if (statusWords(run) === words && share < told + STEP) {
      return undefined;
    }
    words = statusWords(run);
    told = share;
    const score = headline(run);
    return `${statusSentence(run)}${score === undefined ? '' : `. ${score.label} ${headlineText(score)}`}`;
  };
}

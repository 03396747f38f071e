/** What the results page and the extension say to each other. Both sides parse what they get. */
import * as v from 'valibot';
import { runSnapshot } from './runSnapshot';

/** From the extension to the page. */
export const toPage = v.variant('type', [
  /** The whole state of the run to draw, or none. The page keeps nothing of its own but the scroll position. */
  v.object({ type: v.literal('snapshot'), run: v.nullable(runSnapshot) }),
]);
export type ToPage = v.InferOutput<typeof toPage>;

/** From the page to the extension. */
export const fromPage = v.variant('type', [
  /** The page is up and wants its first snapshot. */
  v.object({ type: v.literal('ready') }),
  v.object({
    type: v.literal('action'),
    action: v.picklist(['submit', 'cancel', 'continue', 'openLog', 'openFolder', 'openBundle', 'openPanel']),
    /** The run it is about; none for `submit`. */
    run: v.optional(v.string()),
  }),
]);
export type FromPage = v.InferOutput<typeof fromPage>;

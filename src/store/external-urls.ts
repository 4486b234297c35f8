/** URLs of other hosts that links named and the scope left alone: most of a list, and seldom what is asked for. */
import { PAGE_STATES } from '../frontier/page-state.ts';

/** Of a row `u` of url; the words of the scope's host rule (scope/classify.ts). */
export const IS_EXTERNAL = `(u.state = ${PAGE_STATES.Skipped} AND u.reason LIKE 'scope: host %')`;
export const IS_NOT_EXTERNAL = `(u.state <> ${PAGE_STATES.Skipped} OR u.reason IS NULL OR u.reason NOT LIKE 'scope: host %')`;

/** Which statements may ask the web: their rows are wanted as they come, and the session's settings are read before. */
import { FUNCTIONS } from './function-list.ts';

const OF_WEB = FUNCTIONS.filter(({ isOfWeb }) => isOfWeb).map(({ name }) => name);
const WEB_CALL = new RegExp(`\\b(?:sumi_)?(?:${OF_WEB.join('|')})"?\\s*\\(`, 'i');

/** A name in a string counts, too. A view or macro that calls one of them does not. */
export function usesWeb(statement: string): boolean {
  return WEB_CALL.test(statement);
}

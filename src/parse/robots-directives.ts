/**
 * What a page asks of robots, in X-Robots-Tag headers and meta robots: noindex, nofollow and none. Directives for
 * another agent (`otherbot: noindex`) do not count; those for all and for us add up. Anything else is passed over.
 */

import type { RobotsDirectives } from './parsed-page.ts';

/** Directives that take a value after a colon, and so look like an agent's name. */
const WITH_VALUE = new Set(['unavailable_after', 'max-snippet', 'max-image-preview', 'max-video-preview']);

function addDirective(directive: string, into: RobotsDirectives): void {
  if (directive === 'noindex' || directive === 'none') into.noindex = true;
  if (directive === 'nofollow' || directive === 'none') into.nofollow = true;
}

/** Adds the directives of a meta robots content. */
export function addRobotsContent(content: string, into: RobotsDirectives): void {
  for (const directive of content.toLowerCase().split(/[\s,]+/)) addDirective(directive, into);
}

/**
 * Adds the directives of X-Robots-Tag, several headers joined by commas. An agent's name holds for what follows it up
 * to the next name, as where headers were joined cannot be seen any more.
 */
export function addRobotsHeader(header: string, agentToken: string, into: RobotsDirectives): void {
  const ours = agentToken.toLowerCase();
  let isOurs = true;
  for (const part of header.toLowerCase().split(',')) {
    const colon = part.indexOf(':');
    const before = colon < 0 ? '' : part.slice(0, colon).trim();
    let directive = part.trim();
    if (colon >= 0 && !WITH_VALUE.has(before) && /^[^\s]+$/.test(before)) {
      isOurs = before === ours || before === '*';
      directive = part.slice(colon + 1).trim();
    }
    if (isOurs) addDirective(directive, into);
  }
}

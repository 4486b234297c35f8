/**
 * What a page asks of robots, in X-Robots-Tag headers and meta robots: noindex, nofollow and none, which are obeyed,
 * and all other directives as one text for comparison. Directives for another agent (`otherbot: noindex`) do not count;
 * those for all robots and for us add up. Costs nothing on pages without directives.
 */

import type { RobotsDirectives } from './parsed-page.ts';

/** Directives that have a value after a colon, and so look like an agent's name. */
const WITH_VALUE = new Set(['unavailable_after', 'max-snippet', 'max-image-preview', 'max-video-preview']);
/** Directives that are obeyed, and those that are the default: neither belongs to the others. */
const PLAIN = new Set(['', 'noindex', 'nofollow', 'none', 'all', 'index', 'follow']);
const EXPIRY = 'unavailable_after';
/** A longer list is not a real one. */
const MOST_OTHER_CHARS = 500;

function obey(directive: string, into: RobotsDirectives): void {
  if (directive === 'noindex' || directive === 'none') into.noindex = true;
  if (directive === 'nofollow' || directive === 'none') into.nofollow = true;
}

/** From the parts between commas, as a set: order and repeats mean nothing. */
function addOthers(parts: readonly string[], into: RobotsDirectives): void {
  const others = into.other === '' ? [] : into.other.split(', ');
  for (const part of parts) {
    // NUL as HTML has it, and as databases keep it.
    const text = part
      .replaceAll('\0', '\ufffd')
      .replace(/\s*:\s*/g, ':')
      .trim();
    // A date contains spaces and commas.
    if (text.startsWith(EXPIRY)) others.push(text);
    else if (/^\d/.test(text) && others.at(-1)?.startsWith(EXPIRY)) others.push(`${others.pop()} ${text}`);
    else others.push(...text.split(/\s+/).filter((directive) => !PLAIN.has(directive)));
  }
  into.other = [...new Set(others)]
    .sort()
    .join(', ')
    .slice(0, MOST_OTHER_CHARS)
    .replace(/\p{Surrogate}/gu, '\ufffd');
}

/** Adds the directives of a meta robots content. */
export function addRobotsContent(content: string, into: RobotsDirectives): void {
  const text = content.toLowerCase();
  let hasOthers = false;
  for (const directive of text.split(/[\s,]+/)) {
    obey(directive, into);
    if (!PLAIN.has(directive)) hasOthers = true;
  }
  if (hasOthers) addOthers(text.split(','), into);
}

/**
 * Adds the directives of X-Robots-Tag, several headers joined by commas. An agent's name applies to everything up to
 * the next name, because the borders of the joined headers cannot be seen any more.
 */
export function addRobotsHeader(header: string, agentToken: string, into: RobotsDirectives): void {
  const agent = agentToken.toLowerCase();
  const ours: string[] = [];
  let isOurs = true;
  for (const part of header.toLowerCase().split(',')) {
    const colon = part.indexOf(':');
    const before = colon < 0 ? '' : part.slice(0, colon).trim();
    let directive = part.trim();
    if (colon >= 0 && !WITH_VALUE.has(before) && /^[^\s]+$/.test(before)) {
      isOurs = before === agent || before === '*';
      directive = part.slice(colon + 1).trim();
    }
    if (!isOurs) continue;
    obey(directive, into);
    if (!PLAIN.has(directive)) ours.push(directive);
  }
  if (ours.length > 0) addOthers(ours, into);
}

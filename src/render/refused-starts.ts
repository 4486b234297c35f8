/** What the commands that crawl say about start URLs that were refused. */
import { type SumiError, sumiError } from '../errors.ts';
import type { RefusedStart, SummaryEvent } from '../events/events.ts';
import { printable } from './terminal-text.ts';

const MOST_LINES = 5;

/** A line for each; of a long list the first ones. */
export function refusedLines({ refused_starts: refused }: Pick<SummaryEvent, 'refused_starts'>): string[] {
  const lines = refused
    .slice(0, MOST_LINES)
    .map(({ message, advice }) => printable(`not read: ${message}. ${advice}`));
  const more = refused.length - lines.length;
  return more <= 0
    ? lines
    : [...lines, `not read: ${more} more start URLs; the summary of --json names them`];
}

/** The error of a run that read nothing because of them; null if there was simply no answer. */
export function refusalError(refused: readonly RefusedStart[], at: string): SumiError | null {
  const first = refused.find((start) => !isSilence(start));
  if (first === undefined) return null;
  const others = refused.length - 1;
  return sumiError('start-refused', {
    reason: printable(first.message),
    more: others === 0 ? '' : `; ${others} more start URLs were refused, too`,
    advice: first.advice,
    at,
  });
}

/**
 * A host that does not answer is reported by the error no-answer, with what was tried. A name that does not exist has
 * its own message.
 */
const isSilence = ({ reason, message }: RefusedStart) =>
  /^(?:network: |robots: unreachable \D)/.test(reason) && !message.startsWith('there is no host');

/** Gives a body to the body store. A store that answers at once costs no promise; one that takes its time is awaited. */
import { SumiError } from '../../errors.ts';
import type { BodyStore } from '../../store/bodies.ts';
import type { PageFacts } from '../../store/page-facts.ts';
import type { Settlement } from '../../store/settlement.ts';

/** The body's key, now or later. */
export type KeptBody = string | Promise<string>;

export function keepBody(facts: PageFacts, bytes: Uint8Array, bodies: BodyStore | null): KeptBody | null {
  if (bodies === null) return null;
  const kept = putBody(facts, bytes, bodies);
  // Whoever settles the page hears of it; where the page comes to nothing before, nobody would.
  if (typeof kept !== 'string') kept.catch(() => {});
  return kept;
}

/** What the store of bodies throws is told as a body that could not be kept: it is no fault of the page. */
function putBody(facts: PageFacts, bytes: Uint8Array, bodies: BodyStore): KeptBody {
  try {
    return bodies.put(facts.contentHash!, bytes, facts.contentType);
  } catch (error) {
    return Promise.reject(error);
  }
}

/** The body was given up because the store of bodies is being closed. */
export function isClosing(error: unknown): boolean {
  return error instanceof SumiError && error.code === 'bodies-closed';
}

/** Copies what points into the parser's buffers, which the next page uses again. */
export function detachFromBuffers(settlement: Settlement): void {
  const { text, links } = settlement;
  if (text !== null) settlement.text = text.slice();
  if (links !== null) {
    const { count, targets, flags, anchors } = links;
    settlement.links = { count, targets: targets.slice(0, count), flags: flags.slice(0, count), anchors };
  }
}

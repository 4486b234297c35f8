/**
 * The class of a page on the map: blacklist and stub by its state, then quality if its host is one of the quality
 * domains, otherwise discovered.
 */
import type { PageState } from '../frontier/page-state.ts';

export const PAGE_CLASSES = ['blacklist', 'stub', 'quality', 'discovered'] as const;
export type PageClass = (typeof PAGE_CLASSES)[number];

export function pageClass(state: PageState, isQuality: boolean): PageClass {
  if (state === 'Blacklisted') return 'blacklist';
  if (state === 'Stubbed') return 'stub';
  return isQuality ? 'quality' : 'discovered';
}

/** How a redirect chain ends at a page: the one rule, for every adapter. */
import { PAGE_STATES, type PageStateCode } from '../frontier/page-state.ts';

/** States of a target that was refused rather than asked: the chain fails. */
const REFUSED: ReadonlySet<number> = new Set([
  PAGE_STATES.Skipped,
  PAGE_STATES.Blacklisted,
  PAGE_STATES.Stubbed,
  PAGE_STATES.DepthExceeded,
  PAGE_STATES.RequestLimitHit,
  PAGE_STATES.Discovered,
]);

/** Why a chain that comes to this page fails, or null when it ends there. Beside refusals: a loop or a broken Location. */
export function refusalOf(url: string, state: PageStateCode, reason: string | null): string | null {
  if (state === PAGE_STATES.Failed && reason?.startsWith('redirect:')) return reason;
  // In terrain maps a page that robots.txt denies is Failed.
  const isRefused =
    REFUSED.has(state) || (state === PAGE_STATES.Failed && reason?.startsWith('robots:') === true);
  return isRefused ? `redirect: to ${url} refused, ${reason ?? 'out of scope'}` : null;
}

/** Whether a page has such a reason for a target that was refused: nobody asked for it, so it may be well. */
export function isRefusedRedirect(reason: string | null): boolean {
  return reason !== null && /^redirect: to \S+ refused, /.test(reason);
}

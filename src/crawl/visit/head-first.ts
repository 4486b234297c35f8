/**
 * HEAD before GET (`head-first`): what an answer to HEAD decides about a page, and for how long a host's word is doubted.
 * Some servers answer HEAD with 404, close the connection or say nothing at all, and serve the page to GET. So what HEAD
 * says against the first pages of a host is checked by GET, and a host that answers the two differently gets
 * GET from then on. What was learned is kept with the host, for all workers and later runs. Pure but for that state.
 */
import type { Outcome, ResponseHead } from '../../fetch/fetcher.ts';
import { essenceOf } from '../../parse/mime-type.ts';
import type { HostState } from '../../store/host-port.ts';
import type { LeasedHost, PageTurn } from '../hosts/leased-host.ts';
import type { Answer } from './judge-answer.ts';

/** So many pages of a host that HEAD does not find are requested by GET, too. */
const CHECKS = 3;
const DIFFERS = -1;

/** Pages of the host are requested by GET at once. */
export function isAskedByGet({ headChecks }: HostState): boolean {
  return headChecks === DIFFERS;
}

/** It is not yet known whether HEAD can be believed here. */
export function isHeadDoubted({ headChecks }: HostState): boolean {
  return headChecks !== DIFFERS && headChecks < CHECKS;
}

/**
 * HEAD decides 304, 404, 410, 429, redirects and types we do not want; everything else is left to GET. So are 404, 410, a
 * closed connection and silence at a host that is still doubted.
 */
export function leavesItToGet(
  answer: Answer,
  outcome: Outcome,
  state: HostState,
  wantsType: (essence: string | null) => boolean,
): boolean {
  const { head } = outcome;
  if (isRefusal(answer, outcome)) return isHeadDoubted(state);
  switch (answer.kind) {
    case 'page':
      return head?.contentType === null || wantsType(essenceOf(head!.contentType));
    case 'final':
    case 'retry':
      return head !== null;
    default:
      return false;
  }
}

/** HEAD says that there is nothing: 404, 410, or no answer though it was sent. */
function isRefusal(answer: Answer, { head, sentAt }: Outcome): boolean {
  if (answer.kind === 'final') return answer.state === 'DeadLink' || answer.state === 'Gone';
  return answer.kind === 'retry' && head === null && sentAt !== null;
}

/** The turn that requests by GET after HEAD, and remembers what HEAD was answered. */
export function getAfterHead(turn: PageTurn, { head }: Outcome): PageTurn {
  return { ...turn, method: 'GET', headSaid: head?.status ?? NO_ANSWER };
}

const NO_ANSWER = 0;

/** What GET's answer says of HEAD's, once the same page was requested by both. Answers what to tell, or null. */
export function learnOfHead({ lease }: LeasedHost, { headSaid }: PageTurn, outcome: Outcome): string | null {
  const { state } = lease;
  if (headSaid === undefined || outcome.sentAt === null || isAskedByGet(state)) return null;
  const { failure } = outcome;
  if (failure === 'not-taken' || failure === 'aborted' || failure === 'egress') return null;
  const status = outcome.head?.status ?? NO_ANSWER;
  if (isDifferent(headSaid, status)) {
    state.headChecks = DIFFERS;
    return `answered ${wordOf(headSaid)} to HEAD and ${wordOf(status)} to GET: asked by GET from now on`;
  }
  // A GET that is refused for now, or fails, does not confirm what HEAD said either.
  const isConfirmed = headSaid === status && (status === NO_ANSWER || status === 404 || status === 410);
  if (isConfirmed && isHeadDoubted(state)) state.headChecks++;
  return null;
}

/** A GET that is refused for now, or fails, says nothing of HEAD. Nor does a success of another kind: 304 for 200. */
function isDifferent(toHead: ResponseHead['status'], toGet: ResponseHead['status']): boolean {
  if (toGet === NO_ANSWER || toGet === 429 || toGet >= 500) return false;
  return toHead !== toGet && !(isSuccess(toHead) && isSuccess(toGet));
}

function isSuccess(status: number): boolean {
  return (status >= 200 && status < 300) || status === 304;
}

function wordOf(status: number): string {
  return status === NO_ANSWER ? 'nothing' : String(status);
}

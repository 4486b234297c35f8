/**
 * What finding sitemaps needs of the web, over single polite requests: follows redirects, each hop a request of its own
 * under its own host's robots.txt, tries again what may pass, and gives the body or says why there is none. It knows no
 * host and no clock: `request` is the caller's, who does.
 */
import type { FetchedBody, FetchFailure, Outcome, ResponseHead } from '../../fetch/fetcher.ts';
import type { RobotsRules } from '../../politeness/robots-txt.ts';
import type { Clock } from '../../primitives/clock.ts';
import { createPieceQueue } from '../../sitemap/body-pieces.ts';
import type { FoundBy, SitemapWeb, WebAnswer, WebRefusal } from '../../sitemap/find-entries.ts';
import type { HostRequest, RequestClass } from '../hosts/host-requests.ts';
import { type RetryOptions, retryPauseMs } from '../visit/retry-policy.ts';

const MAX_REDIRECTS = 5;
const PIECE_BYTES = 64 * 1024;

export interface SitemapWebOptions {
  retry: RetryOptions;
  maxBytes: number;
  rulesOf: (url: string) => Promise<RobotsRules | WebRefusal>;
  /** One request, on a slot of the URL's host and only if its robots.txt allows it. */
  request: (request: HostRequest) => Promise<Outcome | WebRefusal>;
  /** It was read before: no guess, though only its path says that it is one. */
  isKnown?: (url: string) => boolean;
  pause: (delayMs: number) => Promise<void>;
  after: Clock['after'];
}

/** An index may name more sitemaps than there is patience for, and a guess is most often wrong: both take turns with pages. */
const CLASSES: Readonly<Record<FoundBy, RequestClass>> = {
  given: 'before-pages',
  robots: 'before-pages',
  index: 'between-pages',
  link: 'between-pages',
  path: 'between-pages',
};

export function createSitemapWeb(options: SitemapWebOptions): SitemapWeb {
  const { retry } = options;
  // One byte more shows that it was not the last.
  const maxBytes = options.maxBytes + 1;
  /** One guess that stays without an answer is enough to wait for: then each of the others is requested once. */
  let isPatientWithGuesses = true;

  /** One address, tried again where that may help; a body in hand while it still comes. */
  async function requestPatiently(url: string, foundBy: FoundBy): Promise<Outcome | WebRefusal | WebAnswer> {
    for (let attempt = 1; ; attempt++) {
      const answer = await requestOnce(url, foundBy);
      if ('refused' in answer || 'pieces' in answer) return answer;
      if (!mayPass(answer)) return answer;
      const isPatient = foundBy !== 'path' || isPatientWithGuesses;
      const pauseMs = isPatient ? retryPauseMs(attempt, retry) : null;
      if (pauseMs === null) {
        if (foundBy === 'path') isPatientWithGuesses = false;
        return answer;
      }
      answer.body?.release();
      await options.pause(pauseMs);
    }
  }

  async function requestOnce(url: string, foundBy: FoundBy): Promise<Outcome | WebRefusal | WebAnswer> {
    const queue = createPieceQueue(options.after);
    let head: ResponseHead | null = null;
    const isKnown = foundBy === 'path' && options.isKnown?.(url) === true;
    const answered = options.request({
      url,
      class: isKnown ? 'before-pages' : CLASSES[foundBy],
      isGuess: foundBy === 'path' && !isKnown,
      maxBytes,
      onPiece(bytes, ownHead) {
        head = ownHead;
        return queue.push(bytes);
      },
    });
    // `answered` is awaited below or by the reader; here it only ends the waiting.
    answered.then(queue.end, queue.end);
    await queue.begun;
    if (head === null) return answered;
    const { contentType, contentEncoding, link } = head as ResponseHead;
    const cutBy = async () => {
      const outcome = await answered;
      if ('refused' in outcome) return outcome;
      const { failure, message } = outcome;
      return failure === null ? null : { refused: `${failure}: ${message ?? 'cut off'}`, mayPass: true };
    };
    return { url, contentType, link, pieces: queue.read(contentEncoding), cutBy };
  }

  return {
    robots: options.rulesOf,
    async get(address, foundBy) {
      let url = address;
      for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
        const answer = await requestPatiently(url, foundBy);
        const read = 'refused' in answer || 'pieces' in answer ? answer : answerOf(url, answer);
        if (!('redirect' in read)) return read;
        url = read.redirect;
      }
      return { refused: `redirect: more than ${MAX_REDIRECTS}` };
    },
  };
}

const LASTING: ReadonlySet<FetchFailure> = new Set(['too-large', 'decode', 'aborted', 'egress']);

/** Another try may bring another answer. */
function mayPass({ head, failure }: Outcome): boolean {
  if (failure !== null && LASTING.has(failure)) return false;
  return head === null || head.status === 429 || head.status >= 500;
}

function answerOf(url: string, outcome: Outcome): WebAnswer | WebRefusal | { redirect: string } {
  const { head, body, failure, message } = outcome;
  const isRead = head !== null && head.status === 200 && body !== null;
  if (!isRead) body?.release();
  if (head === null || (failure !== null && head.status < 300))
    return {
      refused: `${failure}: ${message ?? 'no answer'}`,
      mayPass: failure !== 'too-large' && failure !== 'egress',
      isThere: head !== null,
    };
  if (head.status >= 300 && head.status < 400) {
    const { location } = head;
    if (location === null || !URL.canParse(location, url))
      return { refused: `http ${head.status} to nowhere` };
    const target = new URL(location, url);
    target.hash = '';
    return /^https?:$/.test(target.protocol)
      ? { redirect: target.href }
      : { refused: `redirect: to ${target.protocol}` };
  }
  if (body === null || head.status !== 200)
    return { refused: `http ${head.status}`, mayPass: mayPass(outcome) };
  return {
    url,
    contentType: head.contentType,
    link: head.link,
    pieces: wholeBody(body),
    cutBy: async () => null,
  };
}

/** A body that could only be decoded as a whole. */
async function* wholeBody(body: FetchedBody): AsyncGenerator<Uint8Array, void> {
  try {
    for (let at = 0; at < body.length; at += PIECE_BYTES)
      yield body.bytes.subarray(at, Math.min(body.length, at + PIECE_BYTES));
  } finally {
    body.release();
  }
}

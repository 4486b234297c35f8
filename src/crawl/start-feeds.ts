/**
 * Start URLs that are asked for as pages and answer as feeds or sitemaps do: whoever waits for one gets its body while it
 * comes, by the one request that was made for the page, wherever redirects led to it. One that nobody waits for yet is
 * refused by its head, as any type that is no page, and is asked for once more when somebody does.
 *
 * Before: visit-page.ts, which asks. After: discover-sitemaps.ts, which reads. It asks for nothing itself.
 */
import type { FetchedBody, Outcome, ResponseHead } from '../fetch/fetcher.ts';
import { essenceOf } from '../parse/mime-type.ts';
import { createPieceQueue } from '../sitemap/body-pieces.ts';
import { isSitemapType, type WebAnswer } from '../sitemap/find-entries.ts';
import type { SitemapKind } from '../sitemap/sitemap-outcome.ts';
import type { BodyTaker } from './exchange.ts';
import { answerInPieces } from './sitemap-web.ts';

/** A body that is handed over; who reads it says what it is, null for no sitemap, as soon as that is known. */
export interface HandedFeed {
  answer: WebAnswer;
  hear: (kind: SitemapKind | null) => void;
}

/** unread: it answers as a feed does, and its body was not taken. none: it is no feed. unasked: it is not asked for here any more. */
export type StartFeed = HandedFeed | 'unread' | 'none' | 'unasked';

/** Takes the body of a start URL where it is a feed's. */
export interface FeedIntake extends BodyTaker {
  wants: (head: ResponseHead) => boolean;
  /** The request is over: what it was that was taken, null for no sitemap, undefined when nothing was. */
  finish(outcome: Outcome): Promise<SitemapKind | null | undefined>;
}

export interface StartFeedsOptions {
  maxBytes: number;
  wantsType: (essence: string | null) => boolean;
  /** Somebody waits. */
  onWait: () => void;
}

/** Types that are no pages and may be sitemaps. */
export function isFeedHead(
  head: ResponseHead | null,
  wantsType: StartFeedsOptions['wantsType'],
): head is ResponseHead {
  const type = head?.status === 200 ? essenceOf(head.contentType) : null;
  return type !== null && !wantsType(type) && isSitemapType(type);
}

export function createStartFeeds({ maxBytes, wantsType, onWait }: StartFeedsOptions) {
  const known = new Map<string, 'unread' | 'none'>();
  const moved = new Map<string, string>();
  const waiting = new Map<string, (found: StartFeed) => void>();

  /** Where redirects lead as far as is known. */
  function endOf(url: string): string {
    const passed = new Set<string>();
    let end = url;
    for (let next = moved.get(end); next !== undefined && !passed.has(next); next = moved.get(end)) {
      passed.add(next);
      end = next;
    }
    return end;
  }

  function tell(url: string, found: StartFeed): void {
    waiting.get(url)?.(found);
    waiting.delete(url);
  }

  return {
    of: (start: string): Promise<StartFeed> =>
      new Promise((resolve) => {
        const url = endOf(start);
        const found = known.get(url);
        // Two that lead to one place: the first reads it.
        if (found !== undefined || waiting.has(url)) return resolve(found ?? 'none');
        waiting.set(url, resolve);
        onWait();
      }),

    intakeOf(url: string, fetchUrl: string): FeedIntake | null {
      if (!waiting.has(url)) return null;
      const isFeed = (head: ResponseHead) => isFeedHead(head, wantsType);
      return createIntake({ fetchUrl, maxBytes, isFeed, hand: (feed) => tell(url, feed) });
    },

    /** The first answer counts. */
    see(url: string, found: 'unread' | 'none'): void {
      if (known.has(url)) return;
      known.set(url, found);
      tell(url, found);
    },

    move(from: string, to: string): void {
      if (moved.has(from)) return;
      moved.set(from, to);
      const waits = waiting.get(from);
      waiting.delete(from);
      const end = endOf(from);
      const found = known.get(end);
      if (waits === undefined) return;
      if (found !== undefined || end === from || waiting.has(end)) waits(found ?? 'none');
      else waiting.set(end, waits);
    },

    /** Somebody was led here from a start URL. */
    isAwaited: (url: string) => waiting.has(url),

    /** No more pages are asked for. */
    giveUp(): void {
      for (const url of [...waiting.keys()]) tell(url, 'unasked');
    },
  };
}

interface IntakeOptions {
  fetchUrl: string;
  maxBytes: number;
  isFeed: (head: ResponseHead) => boolean;
  hand: (feed: HandedFeed) => void;
}

function createIntake({ fetchUrl, maxBytes, isFeed, hand }: IntakeOptions): FeedIntake {
  const queue = createPieceQueue();
  let end: (outcome: Outcome) => void = () => {};
  const ended = new Promise<Outcome>((resolve) => {
    end = resolve;
  });
  let kind: Promise<SitemapKind | null> | undefined;

  function handOver(answer: WebAnswer): void {
    kind = new Promise((hear) => hand({ answer, hear }));
  }

  return {
    wants: isFeed,
    // One byte more shows that it was not the last.
    pieceLimit: (head) => (isFeed(head) ? maxBytes + 1 : null),
    onPiece(bytes, head) {
      const isWanted = queue.push(bytes);
      if (kind === undefined) handOver(answerInPieces(fetchUrl, head, queue, ended));
      return isWanted;
    },
    async finish(outcome) {
      const { head, body } = outcome;
      queue.end();
      end(outcome);
      // One that could only be decoded as a whole.
      if (kind === undefined && body !== null && head !== null && isFeed(head))
        handOver({ ...head, url: fetchUrl, pieces: onePiece(body), cutBy: async () => null });
      return kind;
    },
  };
}

/** A copy: the buffer is somebody else's as soon as the page is settled. */
function onePiece({ bytes, length }: FetchedBody): AsyncGenerator<Uint8Array, void> {
  const copy = Buffer.from(bytes.subarray(0, length));
  return (async function* () {
    yield copy;
  })();
}

/**
 * Requests to a host that are for none of its pages: robots.txt, sitemaps, whether anybody answers there. One queue per
 * leased host, in the order of their classes and then of their arrival; each takes the host's next slot, as pages do.
 */
import type { FetchRequest, Outcome } from '../../fetch/fetcher.ts';
import type { RequestKind } from '../../store/host-port.ts';

interface ClassRules {
  /** Lower goes first. */
  rank: number;
  /** Goes before any page of its host; otherwise in turn with pages. */
  isBeforePages: boolean;
  /**
   * What it says decides about pages: it is sent though its host takes no more of them, and one that is under way is waited
   * for when the run is stopped.
   */
  isVital: boolean;
  /** What the request log calls it. */
  kind: RequestKind;
}

export const REQUEST_CLASSES = {
  robots: { rank: 0, isBeforePages: true, isVital: true, kind: 'robots' },
  'before-pages': { rank: 1, isBeforePages: true, isVital: false, kind: 'sitemap' },
  'between-pages': { rank: 2, isBeforePages: false, isVital: false, kind: 'sitemap' },
} satisfies Record<string, ClassRules>;

export type RequestClass = keyof typeof REQUEST_CLASSES;

export interface HostRequest {
  url: string;
  class: RequestClass;
  maxBytes: number;
  /** GET unless told otherwise. */
  method?: 'HEAD';
  onPiece?: FetchRequest['onPiece'];
  /** Nobody says that there is anything at the address: it is not worth a long wait. */
  isGuess?: boolean;
  /** The server did not take it the first time. */
  isResent?: boolean;
}

/** Why nothing was requested. */
export interface Refused {
  refused: string;
  /** Another time there may be an answer. */
  mayPass?: boolean;
}

/** `moved`: the host was given back before the request was sent. */
export type HostAnswer = Outcome | Refused | 'moved';

export interface QueuedRequest extends HostRequest {
  done: (answer: HostAnswer) => void;
}

export class HostRequests {
  readonly #queue: QueuedRequest[] = [];

  get isEmpty(): boolean {
    return this.#queue.length === 0;
  }

  /** One waits that decides about pages. */
  get hasVital(): boolean {
    return this.#queue.length > 0 && REQUEST_CLASSES[this.#queue[0].class].isVital;
  }

  /** The next one goes before any page. */
  get isBeforePages(): boolean {
    return this.#queue.length > 0 && REQUEST_CLASSES[this.#queue[0].class].isBeforePages;
  }

  add(request: QueuedRequest): void {
    const { rank } = REQUEST_CLASSES[request.class];
    const at = this.#queue.findIndex((other) => REQUEST_CLASSES[other.class].rank > rank);
    this.#queue.splice(at === -1 ? this.#queue.length : at, 0, request);
  }

  /** It was taken and not sent: it is the next one of its class. */
  putBack(request: QueuedRequest): void {
    const { rank } = REQUEST_CLASSES[request.class];
    const at = this.#queue.findIndex((other) => REQUEST_CLASSES[other.class].rank >= rank);
    this.#queue.splice(at === -1 ? this.#queue.length : at, 0, request);
  }

  take(): QueuedRequest | undefined {
    return this.#queue.shift();
  }

  /** Answers those that wait, and takes them out: all, or those that `isMeant` says. */
  answer(answer: Refused | 'moved', isMeant: (request: QueuedRequest) => boolean = () => true): void {
    if (this.#queue.length === 0) return;
    const waiting = this.#queue.splice(0);
    this.#queue.push(...waiting.filter((request) => !isMeant(request)));
    for (const request of waiting) if (isMeant(request)) request.done(answer);
  }
}

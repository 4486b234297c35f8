/** The fetch port: one request in, one outcome out. A site's behaviour is data: `fetch` never rejects. */

export interface FetchRequest {
  /** The absolute URL really asked. */
  url: string;
  method: 'GET' | 'HEAD';
  /** Extra request headers, lower-case names (conditional requests, for example). */
  headers?: Record<string, string>;
  /** It was `not-taken` before: goes over a new connection, and if that fails too, it failed. */
  isResent?: boolean;
  /** The most bytes of body after decoding; past it the connection is closed and the body dropped. */
  maxBytes: number;
  /** Keep the first `maxBytes` of a longer body instead of dropping it (robots.txt). */
  keepsCutBody?: boolean;
  /**
   * Takes the body of a 200 in pieces, as they come over the wire and before any decoding (`head.contentEncoding`), in
   * place of one buffer; the bytes are used again afterwards. False wants no more; a promise wants no more before it
   * resolves, and until then no time is counted (some may come all the same). Not called where the encoding can only be
   * undone as a whole.
   */
  onPiece?: (bytes: Uint8Array, head: ResponseHead) => boolean | Promise<void>;
  /** Decides on the answer's headers whether the body is wanted (2xx only); false closes the connection. */
  wantsBody?: (head: ResponseHead) => boolean;
  /** Called right before the request is written to an open connection; false keeps it from being sent (a lost lease). */
  onSend?: () => boolean;
  /** Called right after it was written: here the host's clock counts from, however busy the machine was in between. */
  onSent?: () => void;
}

/** The header fields the crawler uses, each null when absent; repeated fields joined by ", ". */
export interface ResponseHead {
  status: number;
  contentType: string | null;
  contentLength: number | null;
  contentEncoding: string | null;
  location: string | null;
  etag: string | null;
  lastModified: string | null;
  cacheControl: string | null;
  retryAfter: string | null;
  date: string | null;
  expires: string | null;
  age: string | null;
  link: string | null;
  xRobotsTag: string | null;
}

/** A body in a pooled buffer: `bytes[length]` is 0 (the scanner's sentinel). Give it back with `release`. */
export interface FetchedBody {
  bytes: Uint8Array;
  length: number;
  release(): void;
}

export type FetchFailure =
  | 'dns'
  | 'unknown-host'
  | 'refused'
  | 'reset'
  | 'tls'
  | 'timeout-connect'
  | 'timeout-headers'
  | 'timeout-body'
  | 'timeout-total'
  | 'protocol'
  | 'decode'
  | 'too-large'
  | 'proxy'
  | 'not-sent'
  /**
   * Sent, and the server did not take it: a used connection ended before one byte of answer, or HTTP/2 refused it (GOAWAY,
   * REFUSED_STREAM). No failure of the host and no try of the page: ask once more, with `isResent`, on a slot of its own.
   */
  | 'not-taken'
  | 'aborted'
  | 'other';

export interface Outcome {
  /** The answer's head; null when there was none. A failure after the head (too-large, reset) keeps the head. */
  head: ResponseHead | null;
  /** The decoded body; null for HEAD, an unwanted body, or a failure; empty where `onPiece` took it. */
  body: FetchedBody | null;
  /** True when `wantsBody` said no. */
  bodyRefused: boolean;
  failure: FetchFailure | null;
  /** What the runtime said about the failure, for people. */
  message: string | null;
  /** Wall time when the request was written; null when it never was. */
  sentAt: number | null;
  /** Milliseconds from sending to the answer's head; null without one. */
  responseMs: number | null;
  /** Bytes of body as they came over the wire. */
  wireBytes: number;
}

export interface Fetcher {
  fetch(request: FetchRequest): Promise<Outcome>;
  /** Ends every request in flight with the failure `aborted`. */
  abortAll(): void;
  /** Closes the idle connections of a host (its lease was given back). */
  forgetHost(hostname: string): void;
  close(): Promise<void>;
}

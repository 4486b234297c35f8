/**
 * The fetch port: one request in, one outcome out. The behaviour of a site is data: `fetch` never rejects. Never
 * follows a redirect and never repeats a request. Before it: politeness. After it: parse.
 */

export interface FetchRequest {
  /** The absolute URL that is really requested. */
  url: string;
  method: 'GET' | 'HEAD';
  /** More request headers, lower-case names (for example conditions). */
  headers?: Record<string, string>;
  /** It was `not-taken` before: it uses a new connection, and if that fails, too, the request has failed. */
  isResent?: boolean;
  /** The most bytes of a body after decoding. Beyond it, the connection is closed and the body dropped. */
  maxBytes: number;
  /** Keep the first `maxBytes` of a longer body instead of dropping it (robots.txt). */
  keepsCutBody?: boolean;
  /**
   * Receives the body of a 200 in pieces, as they arrive and before any decoding (`head.contentEncoding`), instead of
   * one buffer. The bytes are reused afterwards. Returns false to end the body, or a promise to pause it: until the
   * promise resolves, no time limit runs (a few more pieces may come all the same). Not called for an encoding that can
   * only be decoded as a whole.
   */
  onPiece?: (bytes: Uint8Array, head: ResponseHead) => boolean | Promise<void>;
  /** Decides by the headers of the answer whether the body is wanted (2xx only). False closes the connection. */
  wantsBody?: (head: ResponseHead) => boolean;
  /** Called right before the request is written to an open connection. False prevents it (for example a lost lease). */
  onSend?: () => boolean;
  /** Called right after the write. The host's clock counts from here, however busy the machine was before. */
  onSent?: () => void;
}

/** Name in lower case, value. */
export type HeaderField = readonly [name: string, value: string];

/** The header fields that the crawler uses, null if absent. Repeated fields are joined by ", ". */
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
  /**
   * Every header field in the order in which they were sent; null unless the fetcher was told to keep them. Over HTTP/2
   * repeated ones come as one, joined by ", " (Set-Cookie excepted).
   */
  fields?: readonly HeaderField[] | null;
}

/** A body in a pooled buffer. `bytes[length]` is 0, the end mark of the scanner. Give it back with `release`. */
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
  /** The egress guard refused the address; nothing was connected to, and the message names the rule. */
  | 'egress'
  | 'not-sent'
  /**
   * Sent, but the server did not take it: a reused connection ended before the first byte of an answer, or HTTP/2
   * refused it (GOAWAY, REFUSED_STREAM). No failure of the host and no try of the page: send it once more, with
   * `isResent`, on a new slot.
   */
  | 'not-taken'
  | 'aborted'
  | 'other';

export interface Outcome {
  /** The head of the answer, null if there was none. A failure after the head (too-large, reset) keeps the head. */
  head: ResponseHead | null;
  /** The decoded body. Null for HEAD, for an unwanted body and for a failure; empty if `onPiece` received it. */
  body: FetchedBody | null;
  /** True if `wantsBody` returned false. */
  bodyRefused: boolean;
  failure: FetchFailure | null;
  /** The runtime's text about the failure, for people. */
  message: string | null;
  /** Wall time when the request was written; null if it never was. */
  sentAt: number | null;
  /** Milliseconds from the write to the head of the answer; null without one. */
  responseMs: number | null;
  /** Bytes of the body before decoding. */
  wireBytes: number;
}

export interface Fetcher {
  fetch(request: FetchRequest): Promise<Outcome>;
  /** Ends every request in flight with the failure `aborted`. */
  abortAll(): void;
  /** Closes the idle connections of a host whose lease was given back. */
  forgetHost(hostname: string): void;
  close(): Promise<void>;
}

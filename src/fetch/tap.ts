/**
 * A tap for the raw bytes of requests and answers, for archives. Each request that is written is an exchange of its own:
 * redirects come hop by hop, and a request that is repeated comes again. Without a tap nothing is called and nothing is
 * copied.
 */
export interface TappedExchange {
  /** The URL that is requested. */
  url: string;
  method: 'GET' | 'HEAD';
  /** Wall time when the request was written. */
  sentAt: number;
  /**
   * True if the bytes are those of the connection: request and head to the last letter, the body with its transfer
   * coding (chunks). False over undici's clients (HTTP/2): heads are written as HTTP/1.1 writes them, from the fields
   * that were sent and received, and the body is without its transfer coding.
   */
  isExact: boolean;
}

/** Hears of one exchange, in this order. All bytes are reused afterwards: a sink that keeps them has to copy them. */
export interface TapSink {
  /** Request line, all fields, credentials too, and the empty line. */
  request(bytes: Uint8Array): void;
  /** Status line, fields and the empty line of the final answer. Not called without an answer. */
  head(bytes: Uint8Array): void;
  /** The next bytes of the body, before any decoding of its content encoding. */
  body(bytes: Uint8Array): void;
  /** `isWhole`: the answer was received to its end. Called once, last. */
  end(isWhole: boolean): void;
}

/** Called when a request is written. Null: nobody wants to hear of this exchange. It must not throw. */
export type Tap = (exchange: TappedExchange) => TapSink | null;

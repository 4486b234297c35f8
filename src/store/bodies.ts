/**
 * The second port of the store: bodies by the SHA-256 of their bytes, so that equal bodies are kept once.
 * `put` answers the key and is durable before it does; putting the same bytes again changes nothing. A store that has no
 * room for more answers later: until it does, the caller leaves the bytes as they are. `close` gives up what is still on
 * its way: those puts are rejected with `bodies-closed`.
 */
export interface BodyStore {
  put(hash: Uint8Array, bytes: Uint8Array, contentType: string | null): Promise<string> | string;
  get(key: string): Promise<Uint8Array | null>;
  close(): Promise<void>;
}

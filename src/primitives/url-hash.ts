/**
 * The 128-bit identity hash of a URL: HalfSipHash-1-3 twice, under two keys that the database keeps secret, so that no
 * site can prepare two URLs that collide. It is made for short inputs and needs only 32-bit arithmetic: half the cost
 * of two xxh64 in WebAssembly (no copy into its memory, no bigint), and with a key. One and three rounds are usual for
 * hash tables with a secret key. The result stays in `words`, because an object or a string per new URL would cost more
 * than the hash.
 */
export interface UrlHasher {
  /** The last hash: 64 bits under the first key, 64 under the second. Valid until the next call. */
  readonly words: Uint32Array;
  hash(url: string): void;
}

/** `key` holds four 32-bit words: two keys of 64 bits. */
export function createUrlHasher(key: Uint32Array): UrlHasher {
  const words = new Uint32Array(4);
  const [k0, k1, k2, k3] = Int32Array.from(key);
  // Both hashes in one state, first key in 0–3, second in 4–7.
  const state = new Int32Array(8);

  function hash(url: string): void {
    let v0 = k0;
    let v1 = k1 ^ 0xee;
    let v2 = 0x6c796765 ^ k0;
    let v3 = 0x74656462 ^ k1;
    let w0 = k2;
    let w1 = k3 ^ 0xee;
    let w2 = 0x6c796765 ^ k2;
    let w3 = 0x74656462 ^ k3;
    const length = url.length;
    const whole = length & ~3;
    let seen = 0;
    for (let i = 0; i < whole; i += 4) {
      const a = url.charCodeAt(i);
      const b = url.charCodeAt(i + 1);
      const c = url.charCodeAt(i + 2);
      const d = url.charCodeAt(i + 3);
      seen |= a | b | c | d;
      const m = a | (b << 8) | (c << 16) | (d << 24);
      v3 ^= m;
      w3 ^= m;
      v0 = (v0 + v1) | 0;
      w0 = (w0 + w1) | 0;
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
      w1 = ((w1 << 5) | (w1 >>> 27)) ^ w0;
      v2 = (v2 + v3) | 0;
      w2 = (w2 + w3) | 0;
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
      w3 = ((w3 << 8) | (w3 >>> 24)) ^ w2;
      v0 = (((v0 << 16) | (v0 >>> 16)) + v3) | 0;
      w0 = (((w0 << 16) | (w0 >>> 16)) + w3) | 0;
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
      w3 = ((w3 << 7) | (w3 >>> 25)) ^ w0;
      v2 = (v2 + v1) | 0;
      w2 = (w2 + w1) | 0;
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
      w1 = ((w1 << 13) | (w1 >>> 19)) ^ w2;
      v2 = (v2 << 16) | (v2 >>> 16);
      w2 = (w2 << 16) | (w2 >>> 16);
      v0 ^= m;
      w0 ^= m;
    }
    let last = length << 24;
    for (let i = whole; i < length; i++) {
      const code = url.charCodeAt(i);
      seen |= code;
      last |= code << (8 * (i - whole));
    }
    // Identities are ASCII; wider characters count by their UTF-8 bytes.
    if (seen > 0xff) {
      hash(Buffer.from(url).toString('latin1'));
      return;
    }
    state[0] = v0;
    state[1] = v1;
    state[2] = v2;
    state[3] = v3;
    state[4] = w0;
    state[5] = w1;
    state[6] = w2;
    state[7] = w3;
    finish(last, 0);
    finish(last, 4);
  }

  /** The last block and the two outputs of one of the two hashes. */
  function finish(last: number, at: 0 | 4): void {
    state[at + 3] ^= last;
    mix(at, 1);
    state[at] ^= last;
    state[at + 2] ^= 0xee;
    mix(at, 3);
    words[at / 2] = state[at + 1] ^ state[at + 3];
    state[at + 1] ^= 0xdd;
    mix(at, 3);
    words[at / 2 + 1] = state[at + 1] ^ state[at + 3];
  }

  function mix(at: 0 | 4, rounds: number): void {
    let v0 = state[at];
    let v1 = state[at + 1];
    let v2 = state[at + 2];
    let v3 = state[at + 3];
    for (let round = 0; round < rounds; round++) {
      v0 = (v0 + v1) | 0;
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
      v2 = (v2 + v3) | 0;
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
      v0 = (((v0 << 16) | (v0 >>> 16)) + v3) | 0;
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
      v2 = (v2 + v1) | 0;
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
      v2 = (v2 << 16) | (v2 >>> 16);
    }
    state[at] = v0;
    state[at + 1] = v1;
    state[at + 2] = v2;
    state[at + 3] = v3;
  }

  return { words, hash };
}

/**
 * One pass over a text (UTF-8, white space folded): counts its words and makes a 64-bit simhash of its pairs of
 * neighbouring words, so that texts that differ in a few words differ in a few bits. Case and punctuation do not count.
 * A word is a run between spaces with a letter or digit in it; each ideograph and kana is a word of its own. Bits are
 * counted in vertical counters (one plane per power of two, eight features at a time) instead of 64 numbers. The pass
 * itself is in kernel/words.ts.
 */

import { SIMHASH_HIGH, SIMHASH_LOW } from './kernel-layout.ts';
import { createScanKernel, type ScanKernel } from './scan-kernel.ts';

export interface TextFingerprint {
  wordCount: number;
  high: number;
  low: number;
}

export type Fingerprinter = (text: Uint8Array) => TextFingerprint;

/** A text that the kernel made is read in place. Any other text is copied. */
export function createFingerprinter(kernel: ScanKernel = createScanKernel()): Fingerprinter {
  return (text) => {
    const isInside = text.buffer === kernel.text.buffer;
    const length = isInside ? text.length : kernel.take(text, text.length);
    const wordCount = kernel.countWords((isInside ? text : kernel.bytes).byteOffset, length);
    const { state } = kernel;
    return { wordCount, high: state[SIMHASH_HIGH] >>> 0, low: state[SIMHASH_LOW] >>> 0 };
  };
}

/**
 * Content that is text up to its own end tag: scripts, styles, titles … Inside svg, math and templates of broken pages
 * it may be in doubt whether an element is raw text at all. Then its content is also read for links, and the page
 * continues at the end tag that it would have had.
 */

import * as at from './kernel-layout.ts';
import { noteLinkedData } from './linked-data.ts';
import type { HtmlScan } from './page-notes.ts';
import { findRawEnd, findScriptEnd } from './raw-text.ts';
import type { ScanKernel } from './scan-kernel.ts';
import { tagId } from './tag-names.ts';

const LT = 0x3c;
const TITLE = tagId('title');
const SCRIPT = tagId('script');
const PLAINTEXT = tagId('plaintext');

const RAW_NAMES = ['title', 'style', 'textarea', 'xmp', 'iframe', 'noembed', 'noframes'];
const RAW_NAME_BYTES: Uint8Array[] = [];
for (const name of RAW_NAMES) RAW_NAME_BYTES[tagId(name)] = Buffer.from(name);

export function createRawContent(kernel: ScanKernel, result: HtmlScan) {
  let realEnd = 0;
  const self = {
    /** While the content of a raw element is read in doubt: the position of its end tag; otherwise -1. */
    resumeAt: -1,
    /** The next end tag is that of the raw element. */
    isClose: false,
    reset(length: number): void {
      kernel.state[at.END] = realEnd = length;
      self.resumeAt = -1;
      self.isClose = false;
    },
    /** Returns where reading continues. */
    read(id: number, isHtml: boolean, counts: boolean, isInDoubt: boolean): number {
      const { state, bytes } = kernel;
      const after = state[at.AFTER];
      const end = state[at.END];
      let rawEnd = end;
      if (id === SCRIPT) {
        rawEnd = findScriptEnd(bytes, after, end);
        if (counts) noteLinkedData(result.linkedData, bytes, state[at.AT], after, rawEnd);
      } else if (id !== PLAINTEXT) rawEnd = findRawEnd(bytes, after, end, RAW_NAME_BYTES[id]);
      if (id === TITLE && counts && result.titleStart < 0) {
        result.titleStart = after;
        result.titleEnd = rawEnd;
      }
      self.isClose = isHtml && rawEnd < end;
      if (!isInDoubt) return rawEnd;
      // It may not be raw text: search it for links, but continue at its end tag if it has one.
      if (rawEnd === end) return after;
      self.resumeAt = rawEnd;
      bytes[rawEnd] = 0;
      state[at.END] = rawEnd;
      state[at.IS_MUTE] = 1;
      return after;
    },
    /** The position of this element's end tag, searched from `from` on. */
    endOf(id: number, from: number): number {
      return findRawEnd(kernel.bytes, from, kernel.state[at.END], RAW_NAME_BYTES[id]);
    },
    /** The page continues after the raw content that was read in doubt. Returns that position. */
    resume(): number {
      const from = self.resumeAt;
      kernel.bytes[from] = LT;
      kernel.state[at.END] = realEnd;
      self.resumeAt = -1;
      return from;
    },
  };
  return self;
}

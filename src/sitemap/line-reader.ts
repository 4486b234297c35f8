/** A sitemap in plain text: one URL per line. Other lines are ignored; a text without any URL is no sitemap. */
import { createResolver, MAX_URL_LENGTH } from '../url/resolve.ts';
import type { SitemapEntry, SitemapProblem } from './sitemap-outcome.ts';
import { textBetween } from './xml-text.ts';

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
/** A text with so many lines without a URL is something else, however long it is. */
const MOST_STRANGE_LINES = 1000;
const NONE = Buffer.alloc(0);

export class LineReader {
  problem: SitemapProblem | null = null;
  entries = 0;
  dropped = 0;
  isDone = false;
  readonly #onEntry: (entry: SitemapEntry, kind: 'text') => void;
  readonly #resolve = createResolver();
  #held: Buffer = NONE;
  /** The rest of a line that is too long is ignored. */
  #isOverlong = false;
  #first: string | null = null;

  constructor(onEntry: (entry: SitemapEntry, kind: 'text') => void) {
    this.#onEntry = onEntry;
  }

  push(piece: Buffer): void {
    const bytes = this.#held.length === 0 ? piece : Buffer.concat([this.#held, piece]);
    let start = 0;
    for (let i = this.#held.length; i < bytes.length && !this.isDone; i++) {
      if (bytes[i] !== LINE_FEED && bytes[i] !== CARRIAGE_RETURN) continue;
      this.#line(bytes, start, i);
      start = i + 1;
    }
    const isTooLong = bytes.length - start > MAX_URL_LENGTH;
    if (isTooLong && !this.#isOverlong) {
      this.#isOverlong = true;
      this.#drop(bytes.toString('utf8', start, start + 64));
    }
    this.#held = isTooLong || start === bytes.length ? NONE : Buffer.from(bytes.subarray(start));
  }

  end(): void {
    if (this.isDone) return;
    this.#line(this.#held, 0, this.#held.length);
    if (this.entries === 0) this.#refuse();
  }

  #line(bytes: Buffer, start: number, end: number): void {
    if (this.#isOverlong) {
      this.#isOverlong = false;
      return;
    }
    const text = textBetween(bytes, start, end, false, () => {
      this.problem ??= { trouble: 'charset', detail: 'bytes that are no UTF-8, read as ISO-8859-1' };
    });
    if (text === '') return;
    const found = /^https?:\/\//i.test(text) ? this.#resolve(text) : null;
    if (found === null) {
      this.#drop(text);
      return;
    }
    this.entries++;
    const entry: SitemapEntry = {
      url: found.href,
      lastmod: null,
      lastmodAt: null,
      changefreq: null,
      priority: null,
      images: [],
      videos: [],
      news: null,
      alternates: [],
    };
    this.#onEntry(entry, 'text');
  }

  #drop(text: string): void {
    this.dropped++;
    this.#first ??= text.slice(0, 64);
    if (this.entries === 0 && this.dropped >= MOST_STRANGE_LINES) this.#refuse();
  }

  #refuse(): void {
    this.isDone = true;
    this.problem =
      this.#first === null
        ? { trouble: 'empty', detail: 'nothing but white space' }
        : { trouble: 'not-sitemap', detail: `a text without addresses: "${this.#first}"` };
  }
}

/**
 * The entry of a sitemap while it is read: collects its fields and makes the entry. Repeated values are parsed once,
 * because many entries have the same date and priority. What is kept of an entry is bounded, however much it says.
 */
import { parseLastmod } from './parse-lastmod.ts';
import type { PlainEntry } from './plain-entries.ts';
import {
  type Alternate,
  CHANGE_FREQUENCIES,
  type ChangeFrequency,
  type SitemapEntry,
  type SitemapNews,
  type SitemapVideo,
} from './sitemap-outcome.ts';
import type { TagName } from './tag-name.ts';

/** Images, videos and languages of one entry. A sitemap may have 1,000 images per entry. */
const MOST_OF_EACH = 1000;
/** Of everything in an entry besides the four fields of the protocol. */
const MOST_LETTERS_BESIDE = 256 * 1024;
/** Few different ones are used; each is parsed once. */
const MOST_PRIORITIES = 64;
const MOST_TIMES = 1024;
/** A date is shorter. Other texts in its place are not remembered. */
const DATE_LETTERS = 64;
const NOTHING: readonly never[] = [];

const frequencies: ReadonlySet<string> = new Set(CHANGE_FREQUENCIES);

/** The current entry; one object serves for all. */
export class EntryDraft {
  loc = '';
  permalink = '';
  bare = '';
  private lastmod: string | null = null;
  private changefreq: ChangeFrequency | null = null;
  private priority: number | null = null;
  private images: string[] | null = null;
  private videos: SitemapVideo[] | null = null;
  private news: SitemapNews | null = null;
  private alternates: Alternate[] | null = null;
  private lettersBeside = 0;
  /** Parsed values: many entries have the same. */
  private readonly priorities = new Map<string, number | null>();
  private readonly times = new Map<string, number | null>();
  private readonly dates = new Map<string, string>();

  clear(): void {
    this.loc = this.permalink = this.bare = '';
    this.lastmod = this.changefreq = this.priority = null;
    this.images = this.videos = this.news = this.alternates = null;
    this.lettersBeside = 0;
  }

  add(field: TagName, value: string): void {
    switch (field) {
      case 'loc':
      case 'link':
        if (this.loc === '') this.loc = value;
        break;
      case 'guid':
        if (/^https?:/i.test(value)) this.permalink = value;
        break;
      case 'changefreq': {
        const word = value.toLowerCase();
        if (frequencies.has(word)) this.changefreq = word as ChangeFrequency;
        break;
      }
      case 'priority':
        this.priority = this.priorityOf(value);
        break;
      case 'published':
      case 'issued':
        this.lastmod ??= value;
        break;
      default:
        this.lastmod = value;
    }
  }

  /** The texts are parts of a long one. Those that are kept are copied, so that the long one can be freed. */
  fill({ lastmod, changefreq, priority }: PlainEntry): void {
    if (lastmod !== undefined) this.lastmod = this.dates.get(lastmod) ?? this.copyDate(lastmod);
    if (changefreq !== undefined) this.add('changefreq', changefreq);
    if (priority !== undefined) this.priority = this.priorityOf(priority);
  }

  private copyDate(lastmod: string): string {
    const copy = Buffer.from(lastmod, 'latin1').toString('latin1');
    if (this.dates.size < MOST_TIMES && copy.length <= DATE_LETTERS) this.dates.set(copy, copy);
    return copy;
  }

  openPart(part: TagName): void {
    if (part === 'news') this.news ??= { publication: null, language: null, title: null, published: null };
    if (part !== 'video') return;
    this.videos ??= [];
    if (this.videos.length < MOST_OF_EACH) this.videos.push({ title: null, url: null, thumbnail: null });
  }

  addToPart(part: TagName, field: TagName, value: string | null): void {
    if (value === null || !this.hasRoomFor(value)) return;
    if (part === 'image') {
      this.images ??= [];
      if (this.images.length < MOST_OF_EACH) this.images.push(value);
    } else if (part === 'video') {
      const video = this.videos!.at(-1)!;
      if (field === 'title') video.title = value;
      else if (field === 'thumbnail_loc') video.thumbnail = value;
      else if (field === 'content_loc') video.url = value;
      else video.url ??= value;
    } else if (part === 'news') {
      const news = this.news!;
      if (field === 'name') news.publication = value;
      else if (field === 'language') news.language = value;
      else if (field === 'title') news.title = value;
      else news.published = value;
    }
  }

  addAlternate(alternate: Alternate): void {
    if (!this.hasRoomFor(alternate.hreflang) || !this.hasRoomFor(alternate.url)) return;
    this.alternates ??= [];
    if (this.alternates.length < MOST_OF_EACH) this.alternates.push(alternate);
  }

  private hasRoomFor(text: string): boolean {
    this.lettersBeside += text.length;
    return this.lettersBeside <= MOST_LETTERS_BESIDE;
  }

  private priorityOf(text: string): number | null {
    let read = this.priorities.get(text);
    if (read === undefined) {
      read = readPriority(text);
      if (this.priorities.size < MOST_PRIORITIES && text.length <= DATE_LETTERS)
        this.priorities.set(text, read);
    }
    return read;
  }

  private timeOf(text: string): number | null {
    let read = this.times.get(text);
    if (read === undefined) {
      read = parseLastmod(text);
      if (this.times.size < MOST_TIMES && text.length <= DATE_LETTERS) this.times.set(text, read);
    }
    return read;
  }

  toEntry(url: string): SitemapEntry {
    return {
      url,
      lastmod: this.lastmod,
      lastmodAt: this.lastmod === null ? null : this.timeOf(this.lastmod),
      changefreq: this.changefreq,
      priority: this.priority,
      images: this.images ?? NOTHING,
      videos: this.videos ?? NOTHING,
      news: this.news,
      alternates: this.alternates ?? NOTHING,
    };
  }
}

function readPriority(text: string): number | null {
  const value = Number(text.includes(',') ? text.replace(',', '.') : text);
  return Number.isNaN(value) ? null : Math.min(1, Math.max(0, value));
}

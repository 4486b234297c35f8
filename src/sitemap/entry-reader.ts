/**
 * Makes entries from the tags and texts of a sitemap, an index of sitemaps, an RSS or an Atom feed. Before it: the
 * scanner.
 *
 * Uses the local names of elements, because namespaces are wrong or missing on too many sites. An element with a prefix
 * belongs to the protocol only if the root element has that prefix or binds it to the protocol. Keeps one entry and a
 * count of open elements, never a stack, so that no document can make it grow.
 */
import { createResolver } from '../url/resolve.ts';
import { EntryDraft } from './entry-draft.ts';
import { readPlainEntry } from './plain-entries.ts';
import type { SitemapEntry, SitemapKind, SitemapProblem } from './sitemap-outcome.ts';
import { type TagName, tagNameOf } from './tag-name.ts';
import type { XmlHandler } from './xml-scanner.ts';
import { attributeOf, ownText, RepeatedText, textBetween } from './xml-text.ts';

const DEEPEST = 256;
/** The rest of a longer text is left out. A URL of that length is none. */
const MOST_LETTERS = 64 * 1024;
const COLON = 0x3a;

const ROOTS: Partial<Record<TagName, { kind: SitemapKind; entry: TagName }>> = {
  urlset: { kind: 'urlset', entry: 'url' },
  sitemapindex: { kind: 'index', entry: 'sitemap' },
  rss: { kind: 'rss', entry: 'item' },
  rdf: { kind: 'rss', entry: 'item' },
  feed: { kind: 'atom', entry: 'entry' },
};

/** By kind: the elements of an entry whose text is read. */
const FIELDS: Record<SitemapKind, ReadonlySet<TagName>> = {
  urlset: new Set<TagName>(['loc', 'lastmod', 'changefreq', 'priority']),
  index: new Set<TagName>(['loc', 'lastmod']),
  rss: new Set<TagName>(['link', 'guid', 'pubdate', 'date']),
  atom: new Set<TagName>(['updated', 'published', 'modified', 'issued']),
  text: new Set(),
};

/** The first elements of a page whose author left out the beginning. */
const HTML_NAMES: ReadonlySet<string> = new Set(
  'html head title meta link script style body div p h1 center table font a'.split(' '),
);

const SITEMAP_NAMESPACE = /xmlns:([\w.-]+)\s*=\s*["'][^"']*\/sitemap\/0\.\d+\/?["']/g;
/** Attributes that bind a prefix to the protocol of that kind. RSS 1.0 and 0.9 have namespaces, 2.0 has none. */
const OWN_NAMESPACES: Partial<Record<SitemapKind, RegExp>> = {
  rss: /xmlns:([\w.-]+)\s*=\s*["'][^"']*\/(?:rss\/1\.0|rdf\/simple\/0\.9)\/?["']/g,
  atom: /xmlns:([\w.-]+)\s*=\s*["'][^"']*(?:\/2005\/Atom|purl\.org\/atom\/ns#)["']/g,
};

type Parts = ReadonlyMap<TagName, ReadonlySet<TagName>>;
const NO_TEXTS: ReadonlySet<TagName> = new Set();
const NO_PARTS: Parts = new Map();
/**
 * Elements inside an entry whose own elements do not belong to the entry: by kind, and which of their texts are read.
 */
const PARTS: Partial<Record<SitemapKind, Parts>> = {
  urlset: new Map([
    ['image', new Set<TagName>(['loc'])],
    ['video', new Set<TagName>(['title', 'content_loc', 'player_loc', 'thumbnail_loc'])],
    ['news', new Set<TagName>(['name', 'language', 'title', 'publication_date'])],
  ]),
  rss: new Map<TagName, ReadonlySet<TagName>>([
    ['image', NO_TEXTS],
    ['source', NO_TEXTS],
    ['content', NO_TEXTS],
  ]),
  atom: new Map<TagName, ReadonlySet<TagName>>([
    ['source', NO_TEXTS],
    ['content', NO_TEXTS],
    ['summary', NO_TEXTS],
  ]),
};

export interface EntryReaderOptions {
  /** Where the document was fetched: the base of relative URLs. */
  url: string;
  onEntry: (entry: SitemapEntry, kind: SitemapKind) => void;
}

/** The position of a document's first tag; its local name follows the prefix. */
interface RootTag {
  nameStart: number;
  nameEnd: number;
  tagEnd: number;
  localStart: number;
}

export class EntryReader implements XmlHandler {
  kind: SitemapKind | null = null;
  problem: SitemapProblem | null = null;
  entries = 0;
  dropped = 0;
  isDone = false;
  /** The end of the root element was read. */
  isWhole = false;
  private readonly options: EntryReaderOptions;
  private readonly resolve = createResolver();
  private root: TagName | null = null;
  private fields: ReadonlySet<TagName> = NO_TEXTS;
  private parts: Parts = NO_PARTS;
  private entryName: TagName | null = null;
  /** Prefixes, with their colon, that mean the protocol's own namespace. */
  private ownPrefixes: string[] = [];
  /** The base of the URLs in an Atom feed and in its entry. */
  private feedBase = '';
  private entryBase = '';
  private depth = 0;
  /** 0: not inside an entry. */
  private entryDepth = 0;
  private part: TagName | null = null;
  private field: TagName | null = null;
  private value = '';
  /** Entry elements inside a field: some sites write `<loc><url>…</url></loc>`. */
  private nested = 0;
  private readonly entry = new EntryDraft();
  private readonly frequency = new RepeatedText();
  private readonly priority = new RepeatedText();

  constructor(options: EntryReaderOptions) {
    this.options = options;
  }

  get wantsText(): boolean {
    return this.field !== null || this.wantsBareText;
  }

  /** Text directly inside an entry without loc: some sites leave that element out. */
  private get wantsBareText(): boolean {
    return this.entryDepth !== 0 && this.depth === this.entryDepth && this.entry.loc === '';
  }

  /** An entry may begin here, directly inside the root element. */
  get canTake(): boolean {
    return this.kind === 'urlset' && this.depth === 1 && this.entryDepth === 0;
  }

  take(bytes: Buffer, latin1: string, from: number): number {
    let at = from;
    for (;;) {
      const found = readPlainEntry(latin1, at);
      if (found === null) return at;
      at = found.end;
      this.entry.loc = ownText(bytes, found.locStart, found.locEnd);
      this.entry.fill(found);
      this.endEntry();
    }
  }

  open(bytes: Buffer, nameStart: number, nameEnd: number, tagEnd: number): void {
    if (++this.depth > DEEPEST) {
      this.stop({ trouble: 'too-deep', detail: `more than ${DEEPEST} elements inside each other` });
      return;
    }
    let localStart = nameStart;
    let name = tagNameOf(bytes, nameStart, nameEnd);
    if (name === null) {
      localStart = localNameIn(bytes, nameStart, nameEnd);
      if (localStart > nameStart) name = tagNameOf(bytes, localStart, nameEnd);
    }
    if (this.root === null) {
      this.openRoot(name, bytes, { nameStart, nameEnd, tagEnd, localStart });
      return;
    }
    if (name === null) return;
    const isOwn = this.isOwnPrefix(bytes, nameStart, localStart);
    if (name === this.entryName && isOwn) {
      if (this.field !== null) this.nested++;
      else this.openEntry();
      if (this.kind === 'atom') this.entryBase = this.baseIn(bytes, nameEnd, tagEnd, this.feedBase);
    } else if (this.entryDepth !== 0) this.openInside(name, isOwn, bytes, nameEnd, tagEnd);
  }

  private openRoot(
    name: TagName | null,
    bytes: Buffer,
    { nameStart, nameEnd, tagEnd, localStart }: RootTag,
  ): void {
    const written = bytes.toString('utf8', nameStart, Math.min(nameEnd, nameStart + 64));
    const root = name === null ? undefined : ROOTS[name];
    if (root === undefined) {
      this.stop(
        HTML_NAMES.has(written.toLowerCase())
          ? { trouble: 'html', detail: 'an HTML page' }
          : { trouble: 'not-sitemap', detail: `an XML document of <${written}>` },
      );
      return;
    }
    this.root = name;
    this.kind = root.kind;
    this.fields = FIELDS[root.kind];
    this.parts = PARTS[root.kind] ?? NO_PARTS;
    this.entryName = root.entry;
    if (root.kind === 'atom') this.feedBase = this.baseIn(bytes, nameEnd, tagEnd, this.options.url);
    if (localStart > nameStart) this.ownPrefixes.push(bytes.toString('latin1', nameStart, localStart));
    const attributes = bytes.toString('latin1', nameEnd, tagEnd);
    for (const [, prefix] of attributes.matchAll(OWN_NAMESPACES[root.kind] ?? SITEMAP_NAMESPACE))
      this.ownPrefixes.push(`${prefix}:`);
  }

  private isOwnPrefix(bytes: Buffer, start: number, end: number): boolean {
    return (
      start === end ||
      this.ownPrefixes.some(
        (prefix) => prefix.length === end - start && bytes.toString('latin1', start, end) === prefix,
      )
    );
  }

  private openEntry(): void {
    if (this.entryDepth !== 0) {
      // If the end tag of an entry with a URL is missing, this entry is beside it and not inside.
      if (this.entry.loc !== '') this.depth = this.entryDepth;
      this.endEntry();
    }
    this.entryDepth = this.depth;
  }

  private openInside(name: TagName, isOwn: boolean, bytes: Buffer, nameEnd: number, tagEnd: number): void {
    if (this.part !== null) {
      if (this.parts.get(this.part)!.has(name)) this.openField(name);
      return;
    }
    if (this.parts.has(name)) {
      this.endField();
      this.part = name;
      this.entry.openPart(name);
    } else if (name === 'link' && this.kind !== 'rss') {
      this.readLink(bytes, nameEnd, tagEnd);
    } else if (this.fields.has(name) && (isOwn || name === 'date')) {
      // Names of RSS and Atom in another namespace (media:link) do not belong to the entry, except Dublin Core's date.
      if (name === 'guid' && attributeOf(bytes, nameEnd, tagEnd, 'isPermaLink') === 'false') return;
      this.openField(name);
    }
  }

  private openField(name: TagName): void {
    this.endField();
    // Two URLs in one entry are two entries with missing tags.
    if (name === 'loc' && this.part === null && this.entry.loc !== '') {
      const depth = this.entryDepth;
      this.endEntry();
      this.entryDepth = depth;
    }
    this.field = name;
    this.value = '';
    this.nested = 0;
  }

  /** xhtml:link of a sitemap, or the link of an Atom entry. */
  private readLink(bytes: Buffer, nameEnd: number, tagEnd: number): void {
    const rel = attributeOf(bytes, nameEnd, tagEnd, 'rel');
    if (rel !== null && rel !== 'alternate') return;
    const href = attributeOf(bytes, nameEnd, tagEnd, 'href');
    if (href === null) return;
    if (this.kind === 'atom') {
      const base = this.baseIn(bytes, nameEnd, tagEnd, this.entryBase);
      if (this.entry.loc === '') this.entry.loc = this.resolve(href, base)?.href ?? '';
      return;
    }
    const hreflang = attributeOf(bytes, nameEnd, tagEnd, 'hreflang');
    const url = hreflang === null ? null : this.address(href);
    if (hreflang !== null && url !== null) this.entry.addAlternate({ hreflang, url });
  }

  close(bytes: Buffer, nameStart: number, nameEnd: number): void {
    if (this.depth > 0) this.depth--;
    let localStart = nameStart;
    let name = tagNameOf(bytes, nameStart, nameEnd);
    if (name === null) {
      localStart = localNameIn(bytes, nameStart, nameEnd);
      if (localStart > nameStart) name = tagNameOf(bytes, localStart, nameEnd);
    }
    if (name === null) return;
    if (name === this.field) this.endField();
    else if (name === this.part) this.part = null;
    else if (name === this.entryName && this.entryDepth !== 0) {
      if (!this.isOwnPrefix(bytes, nameStart, localStart)) return;
      if (this.field !== null && this.nested > 0) this.nested--;
      else {
        // Elements that were left open end with the entry: a mistake in every entry must not add up.
        this.depth = this.entryDepth - 1;
        this.endEntry();
      }
    } else if (name === this.root && this.part === null) {
      if (this.entryDepth !== 0) this.endEntry();
      this.isWhole = true;
    }
  }

  text(bytes: Buffer, start: number, end: number, isCdata: boolean): void {
    const isBare = this.field === null;
    if (isBare && this.kind !== 'urlset' && this.kind !== 'index') return;
    const repeated = isCdata ? null : this.repeatedIn(this.field);
    const text =
      repeated === null
        ? textBetween(bytes, start, end, !isCdata, this.onBadBytes)
        : repeated.between(bytes, start, end, this.onBadBytes);
    if (text === '') return;
    // Each text is bounded, but one field may have a million of them, with something between.
    if (!isBare) {
      if (this.value.length < MOST_LETTERS) this.value += text;
    } else if (this.entry.bare.length < MOST_LETTERS) this.entry.bare += text;
  }

  private repeatedIn(field: TagName | null): RepeatedText | null {
    if (field === 'changefreq') return this.frequency;
    return field === 'priority' ? this.priority : null;
  }

  documentType(name: string): void {
    if (name.toLowerCase() === 'html') this.stop({ trouble: 'html', detail: 'an HTML page' });
  }

  private readonly onBadBytes = (): void => {
    this.problem ??= { trouble: 'charset', detail: 'bytes that are no UTF-8, read as ISO-8859-1' };
  };

  /** The document has ended. A field whose end tag had begun is complete; a field that ended in its text is not. */
  end(unfinished: string): void {
    if (this.isDone) return;
    if (!unfinished.startsWith('</')) this.field = null;
    if (this.entryDepth !== 0) this.endEntry();
    if (this.kind === null) {
      this.problem = { trouble: 'not-sitemap', detail: 'an XML document without an element' };
    } else if (!this.isWhole) {
      this.problem = { trouble: 'cut', detail: `it ends before </${this.root}>` };
    }
  }

  private endField(): void {
    const field = this.field;
    if (field === null) return;
    this.field = null;
    if (this.value === '') return;
    if (this.part !== null) {
      const isAddress = field.endsWith('loc');
      this.entry.addToPart(this.part, field, isAddress ? this.address(this.value) : this.value);
    } else this.entry.add(field, this.value);
  }

  private endEntry(): void {
    this.endField();
    const draft = this.entry;
    this.entryDepth = 0;
    this.part = null;
    const loc = draft.loc || draft.permalink || draft.bare;
    const url = loc === '' ? null : this.address(loc);
    if (url !== null) {
      this.entries++;
      this.options.onEntry(draft.toEntry(url), this.kind!);
    } else this.dropped++;
    draft.clear();
  }

  /** The protocol requires absolute URLs. A path from the root of the site is accepted, a bare word is not. */
  private address(text: string): string | null {
    if (!text.startsWith('http') && !/^(?:https?:|\/)/i.test(text)) return null;
    return this.resolve(text, this.options.url)?.href ?? null;
  }

  private baseIn(bytes: Buffer, nameEnd: number, tagEnd: number, outer: string): string {
    const base = attributeOf(bytes, nameEnd, tagEnd, 'xml:base');
    return base === null ? outer : (this.resolve(base, outer)?.href ?? outer);
  }

  private stop(problem: SitemapProblem): void {
    this.problem = problem;
    this.isDone = true;
  }
}

/** Where the name continues after its prefix. */
function localNameIn(bytes: Buffer, start: number, end: number): number {
  for (let i = start; i < end; i++) if (bytes[i] === COLON) return i + 1;
  return start;
}

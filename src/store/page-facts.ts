/**
 * The table of page facts: one entry for each thing that a visit learns about a page. The columns of `fetched` that a
 * settlement writes, the copy between stores, the views, `past`, the rows of the read side, docs/tables.md and the types
 * below are derived from it.
 *
 * Order: the order in which facts are written. Entries may be added anywhere; `shown` decides the order in a view.
 */

/** What a fact is in code, and the types of its column. `copied` is its kind in copy-port.ts. */
export const FACT_KINDS = {
  whole: { sqlite: 'INTEGER', postgres: 'integer', copied: 'integer' },
  /** May not fit 32 bits. */
  long: { sqlite: 'INTEGER', postgres: 'bigint', copied: 'integer' },
  /** Milliseconds. */
  duration: { sqlite: 'INTEGER', postgres: 'double precision', copied: 'real' },
  /** Wall milliseconds. Views show ISO 8601. */
  time: { sqlite: 'INTEGER', postgres: 'bigint', copied: 'integer' },
  text: { sqlite: 'TEXT', postgres: 'text', copied: 'text' },
  /** A boolean in code, 0 or 1 in a database. */
  flag: { sqlite: 'INTEGER', postgres: 'smallint', copied: 'integer' },
  /** Bytes. Views show lower-case hex. */
  hash: { sqlite: 'BLOB', postgres: 'bytea', copied: 'bytes' },
  /** A bigint in code: 64 bits do not fit a number. */
  bits: { sqlite: 'INTEGER', postgres: 'bigint', copied: 'wide' },
} as const;

export type FactKind = keyof typeof FACT_KINDS;

/** The views that show facts; `row` is the read side's PageRow. */
export type FactView = 'pages' | 'crawled_pages' | 'crawled_url' | 'urls' | 'row';

interface Fact {
  column: string;
  kind: FactKind;
  /** The value where a visit read nothing of it. Null: the fact may be missing, in code too. */
  empty: null | '' | false | 0;
  /** One sentence for docs/tables.md. */
  about: string;
  /** The parser gives it under the same name, as it is stored. */
  isParsed?: true;
  /** The part of a change (CHANGE_PARTS) that names it: then it is a part of `past` and of the facet hash. */
  part?: string;
  /** A visit that read nothing new writes it too. `given`: null leaves what is stored, an empty text removes it. */
  touched?: 'always' | 'given';
  /** In each view: the column before it, and its name there where that is not `column`. */
  shown?: Partial<Record<FactView, { after: string; as?: string }>>;
  /** The schema version that added the column. Then NULL also says that an older version read the page. */
  since?: { sqlite: number; postgres: number };
}

export const PAGE_FACTS = {
  visitedAt: {
    column: 'visited_at',
    kind: 'time',
    empty: 0,
    about: 'When the page was visited last, by the Date of the answer where that is plausible.',
    touched: 'always',
    shown: {
      pages: { after: 'cache_control' },
      crawled_pages: { after: 'links_found', as: 'crawled_at' },
      crawled_url: { after: 'error', as: 'last_crawled_at' },
      urls: { after: 'discovered_at', as: 'fetched_at' },
      row: { after: 'last_modified' },
    },
  },
  statusCode: {
    column: 'status_code',
    kind: 'whole',
    empty: null,
    about: 'The HTTP status of the last visit; empty where nobody answered.',
    part: 'status',
    touched: 'always',
    shown: {
      pages: { after: 'reason' },
      crawled_url: { after: 'url', as: 'status' },
      urls: { after: 'fetch_attempts' },
      row: { after: 'reason' },
    },
  },
  contentType: {
    column: 'content_type',
    kind: 'text',
    empty: null,
    about: 'The Content-Type header as sent.',
    shown: {
      pages: { after: 'priority' },
      urls: { after: 'status_code' },
      row: { after: 'depth' },
    },
  },
  contentLength: {
    column: 'content_length',
    kind: 'long',
    empty: null,
    about: 'Bytes of the body after decoding; without a body the Content-Length header.',
    shown: { pages: { after: 'content_type' }, row: { after: 'nofollow' } },
  },
  title: {
    column: 'title',
    kind: 'text',
    empty: null,
    about: 'The title, white space folded.',
    isParsed: true,
    part: 'title',
    shown: {
      pages: { after: 'status_code' },
      crawled_pages: { after: 'normalized_url' },
      crawled_url: { after: 'status' },
      row: { after: 'status_code' },
    },
  },
  h1: {
    column: 'h1',
    kind: 'text',
    empty: null,
    about: 'The first h1 element, white space folded.',
    isParsed: true,
    part: 'h1',
    shown: { pages: { after: 'title' }, crawled_pages: { after: 'title' }, row: { after: 'title' } },
  },
  description: {
    column: 'description',
    kind: 'text',
    empty: null,
    about: 'The first meta description.',
    isParsed: true,
    part: 'description',
    shown: {
      pages: { after: 'h1', as: 'meta_description' },
      crawled_pages: { after: 'h1', as: 'meta_description' },
      row: { after: 'fetch_url', as: 'meta_description' },
    },
  },
  lang: {
    column: 'lang',
    kind: 'text',
    empty: null,
    about: 'The lang attribute of the html element.',
    isParsed: true,
    shown: { pages: { after: 'simhash' }, row: { after: 'meta_description' } },
  },
  charset: {
    column: 'charset',
    kind: 'text',
    empty: null,
    about: 'The encoding by which the body was read.',
    isParsed: true,
    shown: { pages: { after: 'lang' }, row: { after: 'lang' } },
  },
  canonical: {
    column: 'canonical',
    kind: 'text',
    empty: null,
    about: 'The canonical URL of the page, resolved.',
    part: 'canonical',
    shown: { pages: { after: 'charset' }, row: { after: 'charset' } },
  },
  noindex: {
    column: 'noindex',
    kind: 'flag',
    empty: false,
    about: 'Whether the page or its X-Robots-Tag says noindex.',
    part: 'robots',
    shown: { pages: { after: 'canonical' }, row: { after: 'canonical' } },
  },
  nofollow: {
    column: 'nofollow',
    kind: 'flag',
    empty: false,
    about: 'Whether the page or its X-Robots-Tag says nofollow.',
    part: 'robots',
    shown: { pages: { after: 'noindex' }, row: { after: 'noindex' } },
  },
  robotsOther: {
    column: 'robots_other',
    kind: 'text',
    empty: '',
    about:
      'The other directives for robots: sorted, separated by commas; an empty text where there are none.',
    part: 'robots',
    shown: { pages: { after: 'nofollow' } },
    since: { sqlite: 8, postgres: 6 },
  },
  xRobotsTag: {
    column: 'x_robots_tag',
    kind: 'text',
    empty: null,
    about: 'The X-Robots-Tag header as sent.',
    since: { sqlite: 8, postgres: 6 },
  },
  wordCount: {
    column: 'word_count',
    kind: 'whole',
    empty: null,
    about: 'Words of the main text.',
    isParsed: true,
    shown: {
      pages: { after: 'content_length' },
      crawled_pages: { after: 'content_text' },
      row: { after: 'content_type' },
    },
  },
  contentHash: {
    column: 'content_hash',
    kind: 'hash',
    empty: null,
    about: 'SHA-256 of the body after decoding.',
    shown: {
      pages: { after: 'word_count' },
      crawled_url: { after: 'last_modified' },
      urls: { after: 'content_key' },
      row: { after: 'word_count' },
    },
  },
  simhash: {
    column: 'simhash',
    kind: 'bits',
    empty: null,
    about: '64-bit simhash of the main text.',
    shown: { pages: { after: 'content_hash' }, row: { after: 'content_length' } },
  },
  textHash: {
    column: 'text_hash',
    kind: 'hash',
    empty: null,
    about: 'SHA-256 of the main text.',
    since: { sqlite: 4, postgres: 2 },
  },
  facetHash: {
    column: 'facet_hash',
    kind: 'hash',
    empty: null,
    about:
      'A hash of all facts that are parts of a change, and of the links; of a redirect, of where it leads.',
    since: { sqlite: 4, postgres: 2 },
  },
  structuredData: {
    column: 'structured_data',
    kind: 'text',
    empty: null,
    about: 'JSON-LD as written, one block a line.',
    isParsed: true,
    part: 'structured-data',
    since: { sqlite: 4, postgres: 2 },
  },
  wireBytes: {
    column: 'wire_bytes',
    kind: 'long',
    empty: 0,
    about: 'Bytes of the last full body over the wire.',
    since: { sqlite: 4, postgres: 2 },
  },
  etag: {
    column: 'etag',
    kind: 'text',
    empty: null,
    about: 'The ETag header of the last answer that had one.',
    touched: 'given',
    shown: {
      pages: { after: 'redirect_count' },
      crawled_url: { after: 'last_crawled_at' },
      row: { after: 'redirect_count' },
    },
  },
  lastModified: {
    column: 'last_modified',
    kind: 'text',
    empty: null,
    about: 'The Last-Modified header of the last answer that had one.',
    touched: 'given',
    shown: { pages: { after: 'etag' }, crawled_url: { after: 'etag' }, row: { after: 'etag' } },
  },
  cacheControl: {
    column: 'cache_control',
    kind: 'text',
    empty: null,
    about: 'The Cache-Control header of the last answer that had one, less the age of the answer.',
    touched: 'given',
    shown: { pages: { after: 'last_modified' }, row: { after: 'simhash' } },
  },
  bodyKey: {
    column: 'body_key',
    kind: 'text',
    empty: null,
    about: 'The key of the body in the body store.',
    shown: {
      pages: { after: 'retry_count' },
      urls: { after: 'content_type', as: 'content_key' },
      row: { after: 'redirect_to' },
    },
  },
  error: {
    column: 'error',
    kind: 'text',
    empty: null,
    about: 'Why the last visit failed.',
    touched: 'always',
    shown: { pages: { after: 'referrer_id' }, row: { after: 'visited_at' } },
  },
  responseMs: {
    column: 'response_ms',
    kind: 'duration',
    empty: null,
    about: 'Milliseconds from the request to the head of the answer.',
    touched: 'always',
    shown: { pages: { after: 'changes_detected' }, row: { after: 'cache_control' } },
  },
} as const satisfies Record<string, Fact>;

type Table = typeof PAGE_FACTS;
export type FactName = keyof Table;

export type PageFact = Fact & { name: FactName };

/** The facts in order, each with all properties of an entry. */
export const FACTS = Object.entries(PAGE_FACTS).map(([name, fact]) => ({
  name,
  ...fact,
})) as readonly PageFact[];

interface KindValues {
  whole: number;
  long: number;
  duration: number;
  time: number;
  text: string;
  flag: boolean;
  hash: Uint8Array;
  bits: bigint;
}

type ValueOf<F extends Fact> = KindValues[F['kind']] | (F['empty'] extends null ? null : never);
type NamesWith<P> = { [K in FactName]: Table[K] extends P ? K : never }[FactName];

/** What a visit learned about a page; replaces what was known. */
export type PageFacts = { -readonly [K in FactName]: ValueOf<Table[K]> };

/** A fact that takes part in change detection. */
export type ComparedFact = NamesWith<{ part: string }>;

/** The parts of a change that facts are. */
export type FactPart = Table[ComparedFact]['part'];

/** The compared facts as they are stored: null also where an older version read the page. */
export type PastFacts = {
  -readonly [K in ComparedFact]: Table[K] extends { since: object } ? PageFacts[K] | null : PageFacts[K];
};

/** The facts that the parser gives as they are stored. */
export type ParsedFacts = Pick<PageFacts, NamesWith<{ isParsed: true }>>;

/** What a visit that read nothing new (unchanged, failed, gone) says of the page. The rest stays as it was. */
export type PageTouch = Pick<PageFacts, NamesWith<{ touched: string }>>;

type RowName<F extends Fact> = F extends { shown: { row: { as: infer As extends string } } }
  ? As
  : F extends { shown: { row: object } }
    ? F['column']
    : never;

/** The facts in a row of the read side: times are ISO 8601, hashes hex, flags numbers. */
export type FactRow = {
  -readonly [K in FactName as RowName<Table[K]>]: RowValue<Table[K]['kind']> | null;
};

type RowValue<K extends FactKind> = K extends 'text' | 'time' | 'hash' | 'bits' ? string : number;

/** The facts of a visit that read nothing. */
export const NO_FACTS = Object.fromEntries(
  FACTS.map(({ name, empty }) => [name, empty]),
) as Readonly<PageFacts>;

/** The facts that take part in change detection, as `past` reads them. */
export const COMPARED = FACTS.filter(({ part }) => part !== undefined);

export const PARSED_FACTS = FACTS.filter(({ isParsed }) => isParsed).map(
  ({ name }) => name,
) as readonly (keyof ParsedFacts)[];

export const NO_PARSED_FACTS = Object.fromEntries(
  PARSED_FACTS.map((name) => [name, NO_FACTS[name]]),
) as Readonly<ParsedFacts>;

/** What of a page is compared with what is stored of it. */
export function comparedFacts(facts: Readonly<PageFacts>): Pick<PageFacts, ComparedFact> {
  return Object.fromEntries(COMPARED.map(({ name }) => [name, facts[name]])) as Pick<PageFacts, ComparedFact>;
}

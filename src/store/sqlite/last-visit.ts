/**
 * What a claim says of the page's last visit. Its hashes are read when somebody asks for them: a page that the server
 * calls not modified is settled without, and their bytes cost as much as all the rest. Nobody else writes them while
 * the page is in flight.
 */
import { isGoneAs, type LastVisit } from '../../frontier/candidate.ts';
import { IS_DAY } from '../visit-rows.ts';
import type { Session } from './session.ts';

/** Columns of `fetched f` and `sitemap_entry e`, in the order of `LastVisitValues`. */
export const LAST_VISIT = `f.visited_at, f.status_code, f.content_hash IS NOT NULL, f.etag, f.last_modified, f.cache_control,
  f.wire_bytes, f.change_frequency, f.changes_detected, e.lastmod, CASE WHEN ${IS_DAY} THEN e.last_seen END, f.change`;

/** All null for a page that was never visited. */
export type LastVisitValues = readonly [
  visitedAt: number | null,
  statusCode: number | null,
  hasBody: number,
  etag: string | null,
  lastModified: string | null,
  cacheControl: string | null,
  wireBytes: number,
  changeFrequency: number,
  changesDetected: number,
  sitemapDate: number | null,
  sitemapSeenAt: number | null,
  change: string | null,
];

interface Hashes {
  content: Uint8Array | null;
  text: Uint8Array | null;
  facet: Uint8Array | null;
  simhash: bigint | null;
  xRobotsTag: string | null;
  contentType: string | null;
}

type ReadHashes = (pageId: number) => Hashes;

const NO_HASHES: Hashes = {
  content: null,
  text: null,
  facet: null,
  simhash: null,
  xRobotsTag: null,
  contentType: null,
};

export function createHashReader({ db, guard }: Pick<Session, 'db' | 'guard'>): ReadHashes {
  // As text: 64 bits do not fit a number.
  const read = db
    .prepare(
      `SELECT content_hash, text_hash, facet_hash, CAST(simhash AS TEXT), x_robots_tag, content_type
       FROM fetched WHERE page_id = ?`,
    )
    .raw();
  type Bytes = Uint8Array | null;
  type Values = [Bytes, Bytes, Bytes, string | null, string | null, string | null];
  return (pageId) => {
    if (guard.failure !== null) throw guard.failure;
    try {
      const values = read.get(pageId) as Values | undefined;
      if (values === undefined) return NO_HASHES;
      const [content, text, facet, bits, xRobotsTag, contentType] = values;
      const simhash = bits === null ? null : BigInt(bits);
      return { content, text, facet, simhash, xRobotsTag, contentType };
    } catch (error) {
      throw guard.fail(error);
    }
  };
}

/** A view of the row: nothing is copied that nobody asks for. */
export class LastVisitView implements LastVisit {
  readonly #values: readonly unknown[];
  readonly #at: number;
  readonly #pageId: number;
  readonly #readHashes: ReadHashes;
  #hashes: Hashes | null = null;

  /** The values stand from `at` on, and the first of them is not null. */
  constructor(values: readonly unknown[], at: number, pageId: number, readHashes: ReadHashes) {
    this.#values = values;
    this.#at = at;
    this.#pageId = pageId;
    this.#readHashes = readHashes;
  }

  get visitedAt(): number {
    return this.#values[this.#at] as number;
  }

  get statusCode(): number | null {
    return this.#values[this.#at + 1] as number | null;
  }

  get hasBody(): boolean {
    return this.#values[this.#at + 2] === 1;
  }

  get etag(): string | null {
    return this.#values[this.#at + 3] as string | null;
  }

  get lastModified(): string | null {
    return this.#values[this.#at + 4] as string | null;
  }

  get cacheControl(): string | null {
    return this.#values[this.#at + 5] as string | null;
  }

  get wireBytes(): number {
    return this.#values[this.#at + 6] as number;
  }

  get changeFrequency(): number {
    return this.#values[this.#at + 7] as number;
  }

  get changesDetected(): number {
    return this.#values[this.#at + 8] as number;
  }

  get sitemapDate(): number | null {
    return this.#values[this.#at + 9] as number | null;
  }

  get sitemapSeenAt(): number | null {
    return this.#values[this.#at + 10] as number | null;
  }

  get isGone(): boolean {
    return isGoneAs(this.#values[this.#at + 11] as string | null, this.statusCode);
  }

  get contentHash(): Uint8Array | null {
    return this.#all().content;
  }

  get textHash(): Uint8Array | null {
    return this.#all().text;
  }

  get facetHash(): Uint8Array | null {
    return this.#all().facet;
  }

  get simhash(): bigint | null {
    return this.#all().simhash;
  }

  get xRobotsTag(): string | null {
    return this.#all().xRobotsTag;
  }

  get contentType(): string | null {
    return this.#all().contentType;
  }

  #all(): Hashes {
    this.#hashes ??= this.#readHashes(this.#pageId);
    return this.#hashes;
  }
}

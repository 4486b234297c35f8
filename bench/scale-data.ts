// Made-up pages for the scale bench: everything about page n follows from n, so that nothing is kept. Lengths are those
// of ordinary sites: URLs of about 75 characters, titles of about 55, 600 words of text, 80 links of which most stay on
// the host. Never: time or chance.
import { createHash } from 'node:crypto';

export interface PageRow {
  id: number;
  hostId: number;
  url: string;
  identity: string;
  referrerId: number;
  title: string;
  h1: string;
  description: string | null;
  canonical: string | null;
  contentHash: string;
  etag: string | null;
  lastModified: string | null;
  targets: number[];
  text: string;
}

export interface ScaleData {
  hostName(host: number): string;
  /** Pages `first` … `first + count - 1`, counted from 0. */
  rows(first: number, count: number): PageRow[];
}

const SYLLABLES =
  'ba be bi bo bu da de di do du ka ke ki ko ku la le li lo lu ma me mi mo mu na ne ni no nu ra re ri ro ru sa se si so su ta te ti to tu'.split(
    ' ',
  );
const VOCABULARY = 8000;
const TEXT_WORDS = 600;

/** A well-mixed 32-bit number of n. */
function mix(n: number): number {
  let value = Math.imul(n ^ (n >>> 16), 0x45d9f3b);
  value = Math.imul(value ^ (value >>> 16), 0x45d9f3b);
  return (value ^ (value >>> 16)) >>> 0;
}

const words = Array.from({ length: VOCABULARY }, (_, n) => {
  const length = 1 + (mix(n) % 4);
  return Array.from({ length }, (_, i) => SYLLABLES[mix(n * 7 + i) % SYLLABLES.length]).join('');
});

/** Common words come up often, as in real text: the square of an even draw. */
function sentence(seed: number, count: number): string {
  const parts: string[] = [];
  for (let i = 0; i < count; i++) {
    const draw = mix(seed * 1009 + i) / 2 ** 32;
    parts.push(words[Math.floor(draw * draw * draw * VOCABULARY)]);
  }
  return parts.join(' ');
}

export function createScaleData(options: { hosts: number; links: number; withText: boolean }): ScaleData {
  const { hosts, links, withText } = options;
  // A cube makes some hosts much bigger than others without a table of ranks.
  const hostOf = (page: number) => Math.floor((mix(page + 1) / 2 ** 32) ** 3 * hosts);
  const hostName = (host: number) => `www.${words[mix(host) % VOCABULARY]}-${host.toString(36)}.example`;

  function row(page: number): PageRow {
    const host = hostOf(page);
    const url = `https://${hostName(host)}/${sentence(page, 2).replace(' ', '/')}/${sentence(page + 1, 5).replaceAll(' ', '-')}-${page}.html`;
    const hash = createHash('sha256').update(url).digest('hex');
    const seed = mix(page + 77);
    const hasValidators = seed % 2 === 0;
    return {
      id: page + 1,
      hostId: host + 1,
      url,
      identity: hash.slice(0, 32),
      referrerId: (seed % (page + 1)) + 1,
      title: sentence(page + 2, 9),
      h1: sentence(page + 2, 6),
      description: seed % 10 < 7 ? sentence(page + 3, 22) : null,
      canonical: seed % 10 < 5 ? url : null,
      contentHash: hash,
      etag: hasValidators ? `"${hash.slice(0, 24)}"` : null,
      lastModified: hasValidators ? 'Tue, 14 Nov 2023 22:13:20 GMT' : null,
      targets: Array.from({ length: links }, (_, i) => (mix(seed + i) % (page + 2000)) + 1),
      text: withText ? sentence(page + 5, TEXT_WORDS) : '',
    };
  }

  return {
    hostName,
    rows: (first, count) => Array.from({ length: count }, (_, i) => row(first + i)),
  };
}

/** The words of the page: names of classes, numbers, depths. */
import { DOMAIN_CLASSES, type MapSubject } from '../terrain-map.ts';

interface Words {
  /** One dot, and several. */
  one: string;
  many: string;
  /** By their places in DOMAIN_CLASSES: what a class is called, and what it means. */
  classes: readonly (readonly [name: string, meaning: string])[];
}

const WORDS: Record<MapSubject, Words> = {
  domains: {
    ...{ one: 'domain', many: 'domains' },
    classes: [
      ['quality', 'explored whole; depth is counted from here'],
      ['discovered', 'found by following links'],
      ['stub', 'pages are recorded, never visited'],
      ['blacklist', 'references are recorded, never visited'],
    ],
  },
  sections: {
    ...{ one: 'section', many: 'sections' },
    classes: [
      ['start', 'where the crawl began; depth is counted from here'],
      ['section', 'a folder of the site, with the pages in it'],
      ['other site', 'the site links there; nothing of it was visited'],
      ['blacklist', 'references are recorded, never visited'],
    ],
  },
  pages: {
    ...{ one: 'page', many: 'pages' },
    classes: [
      ['start', 'where the crawl began; depth is counted from here'],
      ['page', 'was read'],
      ['not visited', 'other sites, what is out of scope or of another type'],
      ['broken', 'not found, gone, failed or not reached'],
    ],
  },
};

let words = WORDS.domains;

/** Called once, before any text is made. */
export function speakOf(subject: MapSubject): void {
  words = WORDS[subject];
}

export const capital = (word: string): string => word[0].toUpperCase() + word.slice(1);
export const nodeWord = (count = 1): string => (count === 1 ? words.one : words.many);
export const nodesOf = (count: number): string => countOf(count, words.one, words.many);
export const classWord = (place: number): string => words.classes[place][0];
export const classMeaning = (place: number): string => words.classes[place][1];

const whole = new Intl.NumberFormat('en');

export const formatCount = (value: number): string => whole.format(value);

export const countOf = (value: number, one: string, many = `${one}s`): string =>
  `${whole.format(value)} ${value === 1 ? one : many}`;

export const formatDepth = (depth: number): string => (depth < 0 ? '–' : String(depth));

/** In percent of the whole, because a PageRank of 0.000213 says nothing. */
export function formatRank(rank: number): string {
  const percent = rank * 100;
  return percent > 0 && percent < 0.001
    ? '<0.001'
    : percent.toFixed(percent < 0.1 ? 3 : percent < 10 ? 2 : 1);
}

const SVG = 'http://www.w3.org/2000/svg';
const SHAPES: Record<string, [tag: string, kind: string, attributes: Record<string, string>][]> = {
  quality: [
    ['circle', 'fill', { cx: '6', cy: '6', r: '4' }],
    ['circle', 'line-only', { cx: '6', cy: '6', r: '6' }],
  ],
  discovered: [['circle', 'fill', { cx: '6', cy: '6', r: '4.5' }]],
  stub: [['path', 'fill', { d: 'M6 0.5 11.5 6 6 11.5 0.5 6Z' }]],
  blacklist: [
    ['circle', 'line-only', { cx: '6', cy: '6', r: '4.7' }],
    ['path', 'line-only', { d: 'M2.7 9.3 9.3 2.7' }],
  ],
};

/** The class as a sign with its own shape, because some readers do not see colours. */
export function classGlyph(place: number): SVGElement {
  const glyph = document.createElementNS(SVG, 'svg');
  glyph.setAttribute('viewBox', '0 0 12 12');
  glyph.setAttribute('class', `glyph ${DOMAIN_CLASSES[place]}`);
  glyph.setAttribute('aria-hidden', 'true');
  for (const [tag, kind, attributes] of SHAPES[DOMAIN_CLASSES[place]]) {
    const shape = document.createElementNS(SVG, tag);
    shape.setAttribute('class', kind);
    for (const [name, value] of Object.entries(attributes)) shape.setAttribute(name, value);
    glyph.append(shape);
  }
  return glyph;
}

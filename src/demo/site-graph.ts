// A made-up web of any size, computed and never stored: everything about page i follows from (seed, i), so that a
// server needs no state and two processes agree on every byte. Promises: each host's pages are all reachable from
// its own `/` without leaving the host, all hosts are reachable from host 0, and rendering costs a few microseconds.
// Never: time, chance or anything outside the seed; memory that grows with the number of pages.

export interface SiteGraphOptions {
  /** Any integer; another seed is another site. */
  seed: number;
  /** How many pages over all hosts; at least one a host. */
  pages: number;
  /** Out-links of an ordinary page, navigation included (30). Index pages may have a few more. */
  linksPerPage?: number;
  /** Words of running text on a page (300, about 2 KB). */
  textWords?: number;
  /** Page i lives on host i mod hosts (1). */
  hosts?: number;
}

interface SitePage {
  index: number;
  host: number;
  path: string;
  title: string;
  h1: string;
  description: string;
  /** Index numbers of the pages linked to, in document order, each once, never the page itself. */
  links: number[];
  etag: string;
  lastModified: string;
}

export interface SiteGraph {
  readonly pages: number;
  readonly hosts: number;
  readonly seed: number;
  page(index: number): SitePage;
  pathOf(index: number): string;
  hostOf(index: number): number;
  linksOf(index: number): number[];
  /** The page at a path of a host, or -1. A query or a misspelled name is no page. */
  indexOf(host: number, path: string): number;
  etagOf(index: number): string;
  lastModifiedOf(index: number): string;
  /** The page's HTML. Links to other hosts are absolute and need `origins` (`http://127.0.0.2:8080`). */
  render(index: number, origins?: readonly string[]): Buffer;
}

/** Children of an index page; also the number of sections of a host. */
const ARITY = 8;
/** Links from a host's home page to other hosts' home pages, as a tree, so that host 0 leads to all. */
const HOST_ARITY = 8;
const SENTENCES = 256;
const NEWEST_MS = Date.UTC(2024, 0, 1);

const WORDS =
  'river stone paper copper garden window harbour silver market lantern meadow bridge castle orchard compass timber ' +
  'marble pepper saddle anchor barley cotton dragon ember falcon glacier hammer island jasmine kettle ladder mirror ' +
  'needle ocean pebble quarry ribbon shadow temple umbrella valley whisper yarrow zephyr acorn basket candle desert ' +
  'engine feather gravel hollow iris jungle kernel linen mosaic nectar onyx pillar quill raven';
const words = WORDS.split(' ');
const SECTIONS = ['guide', 'news', 'reference', 'people', 'places', 'recipes', 'history', 'letters'];

/** Mixes seed, page and purpose into 32 evenly spread bits. */
function mix(seed: number, index: number, purpose: number): number {
  let h =
    Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^
    Math.imul(index + 1, 0xc2b2ae35) ^
    Math.imul(purpose + 1, 0x27d4eb2f);
  h = Math.imul(h ^ (h >>> 15), 0x2c1b3c6d);
  h = Math.imul(h ^ (h >>> 12), 0x297a2d39);
  return (h ^ (h >>> 15)) >>> 0;
}

const capitals = words.map((word) => word[0].toUpperCase() + word.slice(1));

/** A fixed pool, so that a page's text is a few joins and not hundreds of word look-ups. */
function makeSentences(seed: number): { text: string; words: number }[] {
  return Array.from({ length: SENTENCES }, (_, n) => {
    const length = 8 + (mix(seed, n, 90) % 9);
    const rest = Array.from({ length: length - 1 }, (_, k) => words[mix(seed, n, 100 + k) % words.length]);
    return { text: `${capitals[mix(seed, n, 91) % words.length]} ${rest.join(' ')}. `, words: length };
  });
}

/** Where pages stand: a tree of index pages a host, found again from the number alone. */
interface Places {
  hostOf(index: number): number;
  localOf(index: number): number;
  indexAt(host: number, local: number): number;
}

function createPlaces(hosts: number): Places {
  return {
    hostOf: (index) => index % hosts,
    localOf: (index) => (index - (index % hosts)) / hosts,
    indexAt: (host, local) => local * hosts + host,
  };
}

/** The local number (1..ARITY) of the section that a page below the home page belongs to. */
function sectionOf(local: number): number {
  let at = local;
  while (at > ARITY) at = Math.floor((at - 1) / ARITY);
  return at;
}

function createNames(seed: number, pages: number, hosts: number, places: Places) {
  const first = (index: number) => mix(seed, index, 1) % words.length;
  const second = (index: number) => mix(seed, index, 6) % words.length;

  function pathOf(index: number): string {
    const local = places.localOf(index);
    if (local === 0) return '/';
    const section = SECTIONS[sectionOf(local) - 1];
    return local <= ARITY
      ? `/${section}/`
      : `/${section}/${words[first(index)]}-${words[second(index)]}-${local}.html`;
  }

  function titleOf(index: number): string {
    const local = places.localOf(index);
    const name = `${capitals[first(index)]} ${words[second(index)]}`;
    return local === 0 ? `${name} home ${places.hostOf(index)}` : `${name} ${local}`;
  }

  function indexOf(host: number, path: string): number {
    if (host < 0 || host >= hosts) return -1;
    let local = 0;
    if (path !== '/') {
      const named = /^\/([a-z]+)\/(?:[a-z]+-[a-z]+-([0-9]{1,12})\.html)?$/.exec(path);
      if (named === null) return -1;
      local = named[2] === undefined ? SECTIONS.indexOf(named[1]) + 1 : Number(named[2]);
    }
    const index = places.indexAt(host, local);
    return index < pages && pathOf(index) === path ? index : -1;
  }

  return { pathOf, titleOf, indexOf };
}

/** Shared navigation, the tree up and down, other hosts from a home page, then seeded links to anywhere. */
function createLinks(seed: number, pages: number, hosts: number, linksPerPage: number, places: Places) {
  return function linksOf(index: number): number[] {
    const host = places.hostOf(index);
    const local = places.localOf(index);
    const found: number[] = [];
    const add = (target: number) => {
      if (target < pages && target !== index && !found.includes(target)) found.push(target);
    };
    for (let section = 0; section <= ARITY; section++) add(places.indexAt(host, section));
    if (local > 0) add(places.indexAt(host, Math.floor((local - 1) / ARITY)));
    for (let child = local * ARITY + 1; child <= local * ARITY + ARITY; child++)
      add(places.indexAt(host, child));
    if (local === 0) {
      for (let next = host * HOST_ARITY + 1; next <= host * HOST_ARITY + HOST_ARITY; next++)
        if (next < hosts) add(next);
    }
    // A draw may hit a page that is linked already: the number of draws is bounded, so that tiny graphs do not loop.
    for (let draw = 0; found.length < linksPerPage && draw < linksPerPage; draw++) {
      add(mix(seed, index, 10 + draw) % pages);
    }
    return found;
  };
}

export function createSiteGraph(options: SiteGraphOptions): SiteGraph {
  const { seed, pages, hosts = 1, linksPerPage = 30, textWords = 300 } = options;
  if (!(pages >= hosts && hosts >= 1))
    throw new RangeError(`a graph needs a page a host: ${pages} pages, ${hosts} hosts`);
  const sentences = makeSentences(seed);
  const places = createPlaces(hosts);
  const { pathOf, titleOf, indexOf } = createNames(seed, pages, hosts, places);
  const linksOf = createLinks(seed, pages, hosts, linksPerPage, places);
  const { hostOf } = places;

  const etagOf = (index: number) =>
    `"${mix(seed, index, 2).toString(16)}-${mix(seed, index, 3).toString(16)}"`;
  const lastModifiedOf = (index: number) =>
    new Date(NEWEST_MS - (mix(seed, index, 4) % 31_536_000) * 1000).toUTCString();
  const descriptionOf = (index: number) => sentences[mix(seed, index, 5) % SENTENCES].text.trimEnd();

  function render(index: number, origins: readonly string[] = []): Buffer {
    const title = titleOf(index);
    const own = hostOf(index);
    const anchor = (target: number) => {
      const host = hostOf(target);
      if (host !== own && origins[host] === undefined)
        throw new RangeError(`no origin was given for host ${host}`);
      return `<a href="${host === own ? '' : origins[host]}${pathOf(target)}">${titleOf(target)}</a> `;
    };
    const links = linksOf(index);
    const inNav = Math.min(links.length, ARITY);
    let html =
      `<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>${title}</title>\n` +
      `<meta name="description" content="${descriptionOf(index)}">\n</head>\n<body>\n<nav>`;
    for (let n = 0; n < inNav; n++) html += anchor(links[n]);
    html += `</nav>\n<main>\n<h1>${title}</h1>\n<p>`;
    let linked = inNav;
    for (let written = 0, n = 0; written < textWords; n++) {
      const sentence = sentences[mix(seed, index, 1000 + n) % SENTENCES];
      html += sentence.text;
      written += sentence.words;
      if (linked < links.length) html += anchor(links[linked++]);
      if (n % 5 === 4) html += '</p>\n<p>';
    }
    html += '</p>\n<ul>';
    while (linked < links.length) html += `<li>${anchor(links[linked++])}</li>\n`;
    html += '</ul>\n</main>\n<footer>Made from a seed; nothing here is true.</footer>\n</body>\n</html>\n';
    return Buffer.from(html, 'latin1');
  }

  function page(index: number): SitePage {
    const title = titleOf(index);
    const description = descriptionOf(index);
    const [path, host, links] = [pathOf(index), hostOf(index), linksOf(index)];
    const [etag, lastModified] = [etagOf(index), lastModifiedOf(index)];
    return { index, host, path, title, h1: title, description, links, etag, lastModified };
  }

  return { pages, hosts, seed, page, pathOf, hostOf, linksOf, indexOf, etagOf, lastModifiedOf, render };
}

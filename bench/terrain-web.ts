// A made-up web of many domains for the map's figures: a few quality domains, which are the largest, others of every
// size, and listed ones that nobody may ask. All of it follows from the seed. Promises: every page of the open domains is
// reachable from the first domain's `/` over open pages alone, and each has exactly `linksPerPage` distinct links.
import type { ServeOptions } from '../src/demo/serve-site.ts';
import { createSiteGraph } from '../src/demo/site-graph.ts';

export interface TerrainWebOptions {
  seed: number;
  quality: number;
  discovered: number;
  /** Blacklisted and stubbed domains: they come last, and are linked to like the others. */
  listed: number;
  /** On all open domains together. */
  pages: number;
  /** Pages of each quality domain, the largest ones. */
  most: number;
  linksPerPage: number;
}

/** Children of a page in its domain's tree, and of a domain in the tree of domains. */
const ARITY = 4;
/** URLs of a listed domain that are linked to. */
const LISTED_PATHS = 40;
/** Of the links of a page: how many leave its domain, and how many of these go to listed ones. */
const AWAY = 5;
const TO_LISTED = 1;

/** Sizes from the largest to one page; the exponent makes their sum about right, the last step exactly. */
function sizesOf({ quality, discovered, pages, most }: TerrainWebOptions): number[] {
  const open = pages - quality * most;
  const largest = 0.8 * most;
  const exponent = (largest * discovered) / open - 1;
  if (!(exponent >= 0)) throw new RangeError(`${pages} pages do not fit into domains of ${most} at most`);
  const sizes = Array.from({ length: discovered }, (_, n) =>
    Math.max(1, Math.round(largest * (1 - n / discovered) ** exponent)),
  );
  let missing = open - sizes.reduce((sum, size) => sum + size, 0);
  for (let at = 0; missing !== 0; at = (at + 1) % discovered) {
    const step = Math.sign(missing);
    if (sizes[at] + step < 1) continue;
    sizes[at] += step;
    missing -= step;
  }
  return [...Array.from({ length: quality }, () => most), ...sizes];
}

/** Evenly spread numbers, the same at every call with the same beginning. */
function createDraw(seed: number): (below: number) => number {
  let state = seed | 0;
  return (below) => {
    state = (state + 0x9e3779b9) | 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) % below;
  };
}

interface Place {
  domain: number;
  local: number;
}

export interface TerrainWeb {
  hosts: number;
  /** Domains with a smaller number may be asked. */
  open: number;
  respond: ServeOptions['respond'];
}

export function createTerrainWeb(options: TerrainWebOptions): TerrainWeb {
  const sizes = sizesOf(options);
  const open = sizes.length;
  const { seed, linksPerPage } = options;
  const firstIndex = sizes.map((_, at) => sizes.slice(0, at).reduce((sum, size) => sum + size, 0));
  // The text is that of the other scenarios; a site of one page has no links but those of its navigation.
  const texts = createSiteGraph({ seed, pages: 1 });

  function linksOf({ domain, local }: Place): Place[] {
    const draw = createDraw(seed ^ Math.imul(firstIndex[domain] + local + 1, 0x85ebca6b));
    const found = new Map<string, Place>();
    const add = (target: Place) => {
      if (target.domain !== domain || target.local !== local) found.set(pathKey(target), target);
    };
    add({ domain, local: 0 });
    for (let child = ARITY * local + 1; child <= ARITY * local + ARITY; child++)
      if (child < sizes[domain]) add({ domain, local: child });
    for (let next = ARITY * domain + 1; local === 0 && next <= ARITY * domain + ARITY; next++)
      if (next < open) add({ domain: next, local: 0 });
    const listed = () => ({ domain: open + draw(options.listed), local: draw(LISTED_PATHS) });
    const away = () => {
      const other = draw(open);
      return { domain: other, local: draw(sizes[other]) };
    };
    for (let n = 0; n < TO_LISTED; n++) add(listed());
    for (let n = TO_LISTED; n < AWAY; n++) add(away());
    // A small domain has not so many pages: the rest of its links leave it.
    while (found.size < linksPerPage)
      add(sizes[domain] > 2 * linksPerPage ? { domain, local: draw(sizes[domain]) } : away());
    return [...found.values()].slice(0, linksPerPage);
  }

  function render(place: Place, origins: readonly string[]): Buffer {
    const page = texts
      .render(firstIndex[place.domain] + place.local)
      .toString()
      .replace(/<nav>.*<\/nav>\n/, '');
    const anchors = linksOf(place).map((target) => {
      const origin = target.domain === place.domain ? '' : origins[target.domain];
      return `<li><a href="${origin}${pathOf(target.local)}">Page ${target.local} of ${target.domain}</a></li>`;
    });
    return Buffer.from(page.replace('</main>', `<ul>\n${anchors.join('\n')}\n</ul>\n</main>`));
  }

  return {
    hosts: open + options.listed,
    open,
    respond:
      ({ origins }) =>
      (request, response, { host, path }) => {
        const local = localOf(path);
        if (local === null || host >= open || local >= sizes[host]) {
          response
            .writeHead(404, { 'content-type': 'text/html' })
            .end('<!DOCTYPE html><title>Not found</title>');
          return;
        }
        const body = render({ domain: host, local }, origins);
        response.writeHead(200, {
          'content-type': 'text/html; charset=utf-8',
          'content-length': body.length,
        });
        response.end(request.method === 'HEAD' ? undefined : body);
      },
  };
}

const pathKey = ({ domain, local }: Place) => `${domain}/${local}`;
const pathOf = (local: number) => (local === 0 ? '/' : `/leaf/${local}.html`);

function localOf(path: string): number | null {
  if (path === '/') return 0;
  const named = /^\/leaf\/([1-9]\d{0,6})\.html$/.exec(path);
  return named === null ? null : Number(named[1]);
}

import { describe, expect, it } from 'vitest';
import { createSiteGraph, type SiteGraph } from '../../src/demo/site-graph.ts';

function reachable(
  graph: SiteGraph,
  start: number,
  follow: (target: number) => boolean = () => true,
): Set<number> {
  const seen = new Set([start]);
  for (const index of seen) for (const target of graph.linksOf(index)) if (follow(target)) seen.add(target);
  return seen;
}

const hrefs = (html: string) => [...html.matchAll(/<a href="([^"]+)"/g)].map((match) => match[1]);
const ORIGINS = Array.from({ length: 10 }, (_, host) => `http://host-${host}.test`);

describe('the site graph', () => {
  it('gives the same bytes for the same seed and others for another seed', () => {
    const [one, again, other] = [7, 7, 8].map((seed) => createSiteGraph({ seed, pages: 500 }));
    for (const index of [0, 1, 9, 250, 499]) {
      expect(again.render(index).equals(one.render(index))).toBe(true);
      expect(other.render(index).equals(one.render(index))).toBe(false);
      expect(again.page(index)).toEqual(one.page(index));
    }
  });

  it.each([1, 2, 9, 10, 73, 74, 5000])('leads from the home page to all of %i pages', (pages) => {
    expect(reachable(createSiteGraph({ seed: 3, pages }), 0).size).toBe(pages);
  });

  it('leads to every page of a host without leaving it, and from host 0 to all hosts', () => {
    const graph = createSiteGraph({ seed: 5, pages: 1000, hosts: 10 });
    for (let host = 0; host < 10; host++) {
      expect(reachable(graph, host, (target) => graph.hostOf(target) === host).size).toBe(100);
    }
    expect(reachable(graph, 0).size).toBe(1000);
  });

  it('stays reachable when pages have no links but the tree', () => {
    expect(reachable(createSiteGraph({ seed: 3, pages: 700, linksPerPage: 0 }), 0).size).toBe(700);
  });

  it('finds each page again by host and path, and nothing else', () => {
    const graph = createSiteGraph({ seed: 11, pages: 300, hosts: 3 });
    const seen = new Set<string>();
    for (let index = 0; index < 300; index++) {
      const { host, path } = graph.page(index);
      expect(graph.indexOf(host, path)).toBe(index);
      seen.add(`${host}${path}`);
    }
    expect(seen.size).toBe(300);
    for (const path of [
      '/nothing',
      '/guide/river-stone-0.html',
      '/guide/x-y-99999.html',
      '/nowhere/',
      '/?a=1',
      '',
    ]) {
      expect(graph.indexOf(0, path)).toBe(-1);
    }
    expect(graph.indexOf(3, '/')).toBe(-1);
  });

  it('renders exactly the links it claims, in their order, absolute when they leave the host', () => {
    const graph = createSiteGraph({ seed: 2, pages: 400, hosts: 4 });
    for (const index of [0, 1, 17, 255, 399]) {
      const { host, links, title, description } = graph.page(index);
      const html = graph.render(index, ORIGINS).toString();
      const expected = links.map((target) => {
        const origin = graph.hostOf(target) === host ? '' : ORIGINS[graph.hostOf(target)];
        return origin + graph.pathOf(target);
      });
      expect(hrefs(html)).toEqual(expected);
      expect(new Set(links).size).toBe(links.length);
      expect(links).not.toContain(index);
      expect(html).toContain(`<title>${title}</title>`);
      expect(html).toContain(`<h1>${title}</h1>`);
      expect(html).toContain(`content="${description}"`);
    }
    expect(graph.linksOf(399).some((target) => graph.hostOf(target) !== graph.hostOf(399))).toBe(true);
  });

  it('refuses to render a link to a host whose origin it was not told', () => {
    const graph = createSiteGraph({ seed: 2, pages: 40, hosts: 4 });
    expect(() => graph.render(0)).toThrow('no origin was given for host');
  });

  it('makes pages as long and as linked as asked', () => {
    const plain = createSiteGraph({ seed: 1, pages: 5000 });
    const long = createSiteGraph({ seed: 1, pages: 5000, textWords: 3000, linksPerPage: 80 });
    expect(plain.render(4000).length).toBeGreaterThan(2000);
    expect(plain.linksOf(4000).length).toBe(30);
    expect(long.render(4000).length).toBeGreaterThan(3 * plain.render(4000).length);
    expect(long.linksOf(4000).length).toBeGreaterThan(75);
  });

  it('refuses fewer pages than hosts', () => {
    expect(() => createSiteGraph({ seed: 1, pages: 2, hosts: 3 })).toThrow('2 pages, 3 hosts');
  });
});

import { describe, expect, it } from 'vitest';
import { randomTerrain } from '../../../test/map-page/random-terrain.ts';
import { MAP_LIMITS, toPageData } from './page-data.ts';
import { DOMAIN_CLASSES } from './terrain-map.ts';

const map = randomTerrain({
  seed: 2,
  quality: 4,
  stub: 6,
  blacklist: 6,
  discovered: 84,
  links: 500,
  maxDepth: 3,
});

describe('the data of the page', () => {
  it('holds every domain and link of a terrain that fits', () => {
    const data = toPageData(map);
    expect(data.names).toEqual(map.domains.map(({ name }) => name));
    expect(data.classes.map((place) => DOMAIN_CLASSES[place])).toEqual(map.domains.map((one) => one.class));
    expect(data.from.length).toBe(map.links.length);
    expect(data.weight).toEqual([...data.weight].sort((a, b) => b - a));
    const [at, one] = [20, map.domains[20]];
    const pairs = one.depths.flatMap(({ origin, depth }) => [map.origins.indexOf(origin), depth]);
    expect(data.depths[at]).toEqual(pairs);
    expect(data.total).toEqual({ domains: 100, links: map.links.length });
  });

  it('says -1 for a depth that is not known', () => {
    const lost = { ...map.domains[30], depth: null, depths: [] };
    const data = toPageData({ ...map, domains: [...map.domains.slice(0, 30), lost], links: [] });
    expect(data.depth[30]).toBe(-1);
  });

  it('cuts what is too large: the smallest domains, never quality, and the lightest links', () => {
    const data = toPageData(map, { ...MAP_LIMITS, domains: 50, links: 60 });
    expect(data.total).toEqual({ domains: 100, links: map.links.length });
    expect(data.names.length).toBe(50);
    expect(data.classes.filter((place) => DOMAIN_CLASSES[place] === 'quality').length).toBe(4);
    expect(data.from.length).toBe(60);
    // Links are named by places in what was kept.
    const kept = new Map(map.domains.map((one, at) => [one.name, at]));
    const weightOf = new Map(map.links.map(({ from, to, weight }) => [`${from} ${to}`, weight]));
    for (const [i, from] of data.from.entries()) {
      const pair = [from, data.to[i]].map((at) => kept.get(data.names[at]));
      expect(weightOf.get(pair.join(' ')), pair.join(' to ')).toBe(data.weight[i]);
    }
    const leastKept = Math.min(
      ...data.names
        .filter((_, at) => data.classes[at] !== 0)
        .map((_, at) => data.pages[at + 4] + data.indegree[at + 4]),
    );
    const gone = map.domains.filter(({ name }) => !data.names.includes(name));
    for (const { pages, indegree } of gone) expect(pages + indegree).toBeLessThanOrEqual(leastKept);
  });

  it('leaves out links of a domain to itself', () => {
    const data = toPageData({ ...map, links: [{ from: 3, to: 3, weight: 9 }, ...map.links] });
    expect(data.from.length).toBe(map.links.length);
  });
});

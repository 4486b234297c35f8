import { describe, expect, it } from 'vitest';
import { randomTerrain } from '../../../test/map-page/random-terrain.ts';
import { layOut } from './lay-out.ts';
import type { TerrainDomain } from './terrain-map.ts';

const wish = { seed: 1, quality: 5, stub: 20, blacklist: 20, discovered: 255, links: 2_000, maxDepth: 3 };

function domain(given: Partial<TerrainDomain>): TerrainDomain {
  return {
    name: 'a.example',
    class: 'discovered',
    pages: 1,
    processed: 1,
    errors: 0,
    depth: 1,
    depths: [],
    indegree: 0,
    outdegree: 0,
    pagerank: 0,
    references: 0,
    topPages: [],
    ...given,
  };
}

describe('the layout', () => {
  it.each([
    ['a usual terrain', wish],
    ['one quality domain', { ...wish, quality: 1, discovered: 40, links: 100 }],
    ['many quality domains', { ...wish, quality: 90 }],
    ['a crowded ring', { ...wish, discovered: 1_500, maxDepth: 1, links: 6_000 }],
  ])('of %s lets no two domains overlap', (_, given) => {
    const { domains, links } = randomTerrain(given);
    const { x, y, radius } = layOut(domains, links);
    const overlaps: string[] = [];
    for (let a = 0; a < domains.length; a++) {
      for (let b = 0; b < a; b++) {
        if (Math.hypot(x[a] - x[b], y[a] - y[b]) < radius[a] + radius[b]) overlaps.push(`${a} and ${b}`);
      }
    }
    expect(overlaps).toEqual([]);
  });

  it('puts quality in the centre, then each depth, then stub and blacklist, each inside its ring', () => {
    const { domains, links } = randomTerrain(wish);
    const { x, y, radius, rings } = layOut(domains, links);
    expect(rings.map(({ label }) => label)).toEqual([
      'quality',
      'depth 1',
      'depth 2',
      'depth 3',
      'stub',
      'blacklist',
    ]);
    for (const [at, one] of domains.entries()) {
      const label = one.class === 'discovered' ? `depth ${one.depth}` : one.class;
      const ring = rings.find((other) => other.label === label)!;
      const distance = Math.hypot(x[at], y[at]);
      expect(distance + radius[at], `${one.name} in ${label}`).toBeLessThanOrEqual(ring.outer);
      expect(distance - radius[at], `${one.name} in ${label}`).toBeGreaterThanOrEqual(
        ring.inner - radius[at] * 2,
      );
    }
    for (const [at, { inner }] of rings.slice(1).entries())
      expect(inner).toBeGreaterThanOrEqual(rings[at].outer);
  });

  it('gives the same picture for the same terrain', () => {
    const first = randomTerrain(wish);
    const second = randomTerrain(wish);
    expect(layOut(first.domains, first.links)).toEqual(layOut(second.domains, second.links));
  });

  it('places a domain on the side of what it is linked with', () => {
    const quality = Array.from({ length: 4 }, () => domain({ class: 'quality', depth: 0, pages: 50 }));
    const around = Array.from({ length: 40 }, () => domain({}));
    const links = around.map((_, i) => ({ from: i % 4, to: 4 + i, weight: 3 }));
    const { x, y } = layOut([...quality, ...around], links);
    const towards = around.map((_, i) => {
      const [a, b] = [i % 4, 4 + i];
      return (x[a] * x[b] + y[a] * y[b]) / Math.hypot(x[a], y[a]) / Math.hypot(x[b], y[b]);
    });
    // The cosine of the angle between a domain and the one that links to it: a quarter of the circle each.
    expect(Math.min(...towards)).toBeGreaterThan(0.6);
  });

  it('makes larger what has more pages, and gives what no path leads to a ring of its own', () => {
    const { radius, rings } = layOut(
      [
        domain({ class: 'quality', depth: 0 }),
        domain({ pages: 500 }),
        domain({ pages: 2 }),
        domain({ depth: null }),
      ],
      [],
    );
    expect(radius[1]).toBeGreaterThan(2 * radius[2]);
    expect(rings.map(({ label }) => label)).toEqual(['quality', 'depth 1', 'depth unknown']);
  });

  it('of nothing at all is an empty centre', () => {
    expect(layOut([], []).rings.map(({ label }) => label)).toEqual(['quality']);
  });
});

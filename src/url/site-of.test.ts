import { expect, it } from 'vitest';
import { createNormalizer } from './normalize.ts';
import { siteOf } from './site-of.ts';

const { normalize } = createNormalizer({ preset: 'standard' });
const terrain = createNormalizer({ preset: 'terrain' });

it.each([
  ['http://a.test/x', 'a.test'],
  ['http://a.test:80/x', 'a.test'],
  ['https://a.test:443/', 'a.test'],
  ['http://a.test:443/', 'a.test:443'],
  ['http://127.0.0.1:21001', '127.0.0.1:21001'],
  ['http://user:pw@A.test.:8080/x:9', 'a.test:8080'],
  ['http://[::1]/', '[::1]'],
  ['http://[::1]:8080/a?b', '[::1]:8080'],
])('the site of %s is %s', (text, site) => {
  expect(siteOf(normalize(text)!)).toBe(site);
});

it('is the same for all spellings that are one page in a map', () => {
  expect(siteOf(terrain.normalize('http://www.a.test:8080/')!)).toBe('a.test:8080');
  expect(siteOf(terrain.normalize('http://www.a.test/')!)).toBe('a.test');
});

import { expect, it } from 'vitest';
import { splitSite } from './split-site.ts';

it.each([
  ['a.test', 'a.test', null],
  ['a.test:8080', 'a.test', '8080'],
  ['[::1]', '[::1]', null],
  ['[::1]:8080', '[::1]', '8080'],
])('%s is split into its parts', (text, name, port) => {
  expect(splitSite(text)).toEqual({ name, port });
});

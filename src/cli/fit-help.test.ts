import { expect, it } from 'vitest';
import { fitHelp } from './fit-help.ts';

const TEXT = `
Examples:
  sumi crawl https://example.com     all of it
  sumi crawl https://example.com --max-pages 200     stop after two hundred pages
Ctrl-C ends a crawl.
The same command goes on with it later, as often as one likes.
`;

it('leaves what fits as it is', () => {
  expect(fitHelp(TEXT, 100)).toBe(TEXT);
});

it('puts what is said of examples on a line of its own where one is too long, and wraps prose', () => {
  expect(fitHelp(TEXT, 50)).toBe(`
Examples:
  sumi crawl https://example.com
      all of it
  sumi crawl https://example.com --max-pages 200
      stop after two hundred pages
Ctrl-C ends a crawl. The same command goes on with
it later, as often as one likes.
`);
});

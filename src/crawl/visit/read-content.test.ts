import { expect, it } from 'vitest';
import { readContent } from './read-content.ts';

it('makes of what a parser found what every database keeps as it is', () => {
  const parse = () => ({
    title: 'a\0b',
    h1: 'c\ud800',
    description: '😀',
    text: ' d\0\n e\udc00 ',
    links: ['/x#y'],
  });
  const page = readContent(parse, {
    url: 'https://a.test/',
    contentType: 'text/x-own',
    body: new Uint8Array(0),
  });
  expect(page).toMatchObject({ title: 'a\ufffdb', h1: 'c\ufffd', description: '😀', wordCount: 2 });
  expect(Buffer.from(page.text).toString()).toBe('d\ufffd e\ufffd');
  expect(page.links.hrefText(0)).toBe('/x');
});

it('takes what a parser left out for nothing', () => {
  const page = readContent(() => ({}), {
    url: 'https://a.test/',
    contentType: 'x/y',
    body: new Uint8Array(0),
  });
  expect(page).toMatchObject({ title: null, h1: null, description: null, wordCount: 0 });
});

/** Content-Type and HTTP-date against public suites, through the functions that the crawl uses. */

import { expect, it } from 'vitest';
import { charsetOfMimeType } from '../../src/parse/charset.ts';
import { parseHttpDate } from '../../src/parse/http-date.ts';
import { parseMimeType, serializeMimeType } from '../../src/parse/mime-type.ts';
import { describeCases } from './load-cases.ts';

describeCases('Content-Type values (web-platform-tests)', ['http/wpt-mime-types.json'], (suite) => {
  let ran = 0;
  for (const { id, input, expected } of suite.cases) {
    it(`${id} parses ${JSON.stringify(input.value).slice(0, 80)}`, () => {
      ran++;
      const type = parseMimeType(input.value);
      expect(type === null ? null : serializeMimeType(type)).toBe(expected.serialized);
      expect(charsetOfMimeType(type)).toBe(
        expected.encoding === null ? null : expected.encoding.toLowerCase(),
      );
    });
  }
  it('runs every case', () => {
    expect(ran).toBe(suite.count);
  });
});

describeCases('HTTP dates (undici)', ['http/undici-http-date.json'], (suite) => {
  // Two-digit years depend on the year of reading; the suite was written for this one.
  const now = Date.UTC(2025, 0, 1);
  let ran = 0;
  for (const { id, input, expected } of suite.cases) {
    it(`${id} reads ${JSON.stringify(input.value)}`, () => {
      ran++;
      const ms = parseHttpDate(input.value, now);
      expect(ms === null ? null : ms / 1000).toBe(expected.epochSeconds);
    });
  }
  it('runs every case', () => {
    expect(ran).toBe(suite.count);
  });
});

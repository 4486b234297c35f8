import { describe, expect, it } from 'vitest';
import { parseLastmod } from './parse-lastmod.ts';

const iso = (text: string) => {
  const moment = parseLastmod(text);
  return moment === null ? null : new Date(moment).toISOString();
};

describe('parseLastmod', () => {
  it('reads every form of the W3C note', () => {
    expect(iso('1997')).toBe('1997-01-01T00:00:00.000Z');
    expect(iso('1997-07')).toBe('1997-07-01T00:00:00.000Z');
    expect(iso('1997-07-16')).toBe('1997-07-16T00:00:00.000Z');
    expect(iso('1997-07-16T19:20+01:00')).toBe('1997-07-16T18:20:00.000Z');
    expect(iso('1997-07-16T19:20:30+01:00')).toBe('1997-07-16T18:20:30.000Z');
    expect(iso('1997-07-16T19:20:30-05:30')).toBe('1997-07-17T00:50:30.000Z');
    expect(iso('1997-07-16T19:20:30.45+01:00')).toBe('1997-07-16T18:20:30.450Z');
    expect(iso('1997-07-16T19:20:30Z')).toBe('1997-07-16T19:20:30.000Z');
  });

  it('forgives what sites often get wrong', () => {
    expect(iso('2024-05-06 07:08:09')).toBe('2024-05-06T07:08:09.000Z');
    expect(iso('2024-05-06T07:08:09')).toBe('2024-05-06T07:08:09.000Z');
    expect(iso('2024-05-06T07:08:09+0200')).toBe('2024-05-06T05:08:09.000Z');
    expect(iso('2024-05-06T07:08:09.123456789Z')).toBe('2024-05-06T07:08:09.123Z');
    expect(iso('2024-5-6')).toBe('2024-05-06T00:00:00.000Z');
    expect(iso('2024-05-06T24:00:00Z')).toBe('2024-05-07T00:00:00.000Z');
  });

  it('reads the dates of RSS', () => {
    expect(iso('Mon, 06 May 2024 07:08:09 +0200')).toBe('2024-05-06T05:08:09.000Z');
    expect(iso('06 May 2024 07:08:09 GMT')).toBe('2024-05-06T07:08:09.000Z');
  });

  it('reads the dates of RSS without a zone as UTC, wherever this machine is', () => {
    const { TZ } = process.env;
    process.env.TZ = 'America/New_York';
    try {
      expect(iso('Mon, 06 May 2024 07:08:09')).toBe('2024-05-06T07:08:09.000Z');
      expect(iso('06 May 2024 07:08')).toBe('2024-05-06T07:08:00.000Z');
      expect(iso('06 May 2024')).toBe('2024-05-06T00:00:00.000Z');
      expect(iso('06 May 2024 07:08:09 EST')).toBe('2024-05-06T12:08:09.000Z');
    } finally {
      if (TZ === undefined) delete process.env.TZ;
      else process.env.TZ = TZ;
    }
  });

  it('knows how long months are', () => {
    expect(iso('2024-02-29')).toBe('2024-02-29T00:00:00.000Z');
    expect(iso('2023-02-29')).toBeNull();
    expect(iso('1900-02-29')).toBeNull();
    expect(iso('2024-04-31T00:00:00Z')).toBeNull();
    expect(iso('2024-13-01')).toBeNull();
    expect(iso('2024-00-01')).toBeNull();
  });

  it('takes nothing else for a date', () => {
    const texts = [
      '',
      'yesterday',
      '24-05-06',
      '2024/05/06',
      '20240506',
      '0000-00-00',
      '2024-05-06T25:00:00Z',
      '-1',
      '1715000000',
    ];
    expect(texts.filter((text) => parseLastmod(text) !== null)).toEqual([]);
  });
});

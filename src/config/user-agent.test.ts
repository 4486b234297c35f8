import { describe, expect, it } from 'vitest';
import { buildUserAgent, productToken } from './user-agent.ts';

const nothing = { name: null, version: null, url: null, email: null };

describe('buildUserAgent', () => {
  it('names the program and where to read about it by default', () => {
    expect(buildUserAgent(nothing)).toMatch(/^SumiRipple\/\S+ \(\+https:\/\/\S+\)$/);
  });

  it.each([
    [
      { name: 'Bot', version: '1.0', url: 'https://a.example/', email: 'x@a.example' },
      'Bot/1.0 (+https://a.example/; x@a.example)',
    ],
    [{ ...nothing, name: 'Bot', version: '1.0', email: 'x@a.example' }, 'Bot/1.0 (x@a.example)'],
    [{ ...nothing, name: 'Bot', url: 'https://a.example/' }, 'Bot (+https://a.example/)'],
    [{ ...nothing, name: 'Bot' }, 'Bot'],
  ])('leaves out what is not known: %j', (parts, expected) => {
    expect(buildUserAgent(parts)).toBe(expected);
  });

  it('adds an e-mail address to our own page', () => {
    expect(buildUserAgent({ ...nothing, email: 'x@a.example' })).toMatch(
      /\(\+https:\/\/\S+; x@a\.example\)$/,
    );
  });
});

describe('productToken', () => {
  it.each([
    [buildUserAgent(nothing), 'SumiRipple'],
    ['my-bot_x/2.0 (+https://a.example/)', 'my-bot_x'],
    ['Bot', 'Bot'],
    ['Mozilla/5.0 (compatible; ThatBot/1.0; +https://a.example/)', 'ThatBot'],
    ['Mozilla/5.0 (X11; Linux)', 'Mozilla'],
    ['(odd)', 'SumiRipple'],
  ])('of %j is %j', (userAgent, token) => {
    expect(productToken(userAgent)).toBe(token);
  });
});

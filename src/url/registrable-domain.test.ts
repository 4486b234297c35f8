import { describe, expect, it } from 'vitest';
import { hostSuffixes, registrableDomain } from './registrable-domain.ts';

describe('registrableDomain', () => {
  it.each([
    ['example.com', 'example.com'],
    ['a.b.example.com', 'example.com'],
    ['shop.example.co.uk', 'example.co.uk'],
    ['alice.github.io', 'alice.github.io'],
    ['blog.alice.github.io', 'alice.github.io'],
    ['www.xn--bcher-kva.de', 'xn--bcher-kva.de'],
  ])('of %s is %s', (host, domain) => {
    expect(registrableDomain(host)).toBe(domain);
  });

  it.each(['127.0.0.1', '[::1]', 'localhost', 'co.uk'])('leaves %s as it is', (host) => {
    expect(registrableDomain(host)).toBe(host);
  });
});

describe('hostSuffixes', () => {
  it('tells what registries give from what hosting companies give', () => {
    expect(hostSuffixes('blog.alice.github.io')).toEqual({
      suffix: 'io',
      domain: 'github.io',
      privateSuffix: 'github.io',
      privateDomain: 'alice.github.io',
    });
    expect(hostSuffixes('www.bbc.co.uk')).toEqual({
      suffix: 'co.uk',
      domain: 'bbc.co.uk',
      privateSuffix: 'co.uk',
      privateDomain: 'bbc.co.uk',
    });
  });

  it.each(['127.0.0.1', '[::1]'])('knows none of %s', (host) => {
    const none = { suffix: null, domain: null, privateSuffix: null, privateDomain: null };
    expect(hostSuffixes(host)).toEqual(none);
  });
});

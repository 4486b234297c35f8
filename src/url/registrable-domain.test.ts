import { describe, expect, it } from 'vitest';
import { registrableDomain } from './registrable-domain.ts';

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

import { describe, expect, it } from 'vitest';
import { createScope, type ScopeCandidate, type ScopeOptions } from './classify.ts';
import { PATTERN_PRESETS } from './pattern-presets.ts';
import { SKIPPED_EXTENSIONS } from './skipped-extensions.ts';
import { InvalidPatternError } from './url-pattern.ts';

function candidate(fetchUrl: string, more: Partial<ScopeCandidate> = {}): ScopeCandidate {
  const host = new URL(fetchUrl).hostname;
  return { url: fetchUrl, fetchUrl, host, depth: 1, isStart: false, isNofollow: false, ...more };
}

function judge(fetchUrl: string, options: Partial<ScopeOptions> = {}, more: Partial<ScopeCandidate> = {}) {
  const scope = createScope({ startHosts: ['example.com'], hostMode: 'host', ...options });
  return scope.classify(candidate(fetchUrl, more));
}

const WANTED = { state: 'Queued', priority: 1, reason: null };

describe('allowed hosts', () => {
  it('are the start hosts, with or without www, and the reason names them', () => {
    expect(judge('https://example.com/a')).toEqual(WANTED);
    expect(judge('https://www.example.com/a')).toEqual(WANTED);
    expect(judge('https://example.com/a', { startHosts: ['www.example.com'] })).toEqual(WANTED);
    expect(judge('https://other.com/a')).toEqual({
      state: 'Skipped',
      priority: 2,
      reason: 'scope: host other.com is not one of example.com',
    });
    expect(judge('https://blog.example.com/a').state).toBe('Skipped');
  });

  it('are everything under the start hosts in mode subdomains', () => {
    const options: Partial<ScopeOptions> = {
      hostMode: 'subdomains',
      startHosts: ['www.example.com', '127.0.0.1'],
    };
    expect(judge('https://a.b.example.com/', options).state).toBe('Queued');
    expect(judge('http://127.0.0.1/', options).state).toBe('Queued');
    expect(judge('https://notexample.com/', options).state).toBe('Skipped');
  });

  it('share the registrable domain in mode domain', () => {
    const options: Partial<ScopeOptions> = { hostMode: 'domain', startHosts: ['shop.example.co.uk'] };
    expect(judge('https://blog.example.co.uk/', options).state).toBe('Queued');
    expect(judge('https://other.co.uk/', options).state).toBe('Skipped');
  });

  it('takes ports for sites of their own, in every mode but any', () => {
    const startHosts = ['127.0.0.1:8080', 'shop.example.com:8080', 'example.org'];
    const isIn = (hostMode: ScopeOptions['hostMode'], url: string, allowedDomains: string[] = []) =>
      judge(url, { startHosts, hostMode, allowedDomains }).state === 'Queued';
    for (const mode of ['host', 'subdomains', 'domain'] as const) {
      expect(isIn(mode, 'http://127.0.0.1:8080/')).toBe(true);
      expect(isIn(mode, 'http://127.0.0.1/')).toBe(false);
      expect(isIn(mode, 'http://127.0.0.1:9090/')).toBe(false);
      expect(isIn(mode, 'http://example.org/')).toBe(true);
      expect(isIn(mode, 'https://example.org/')).toBe(true);
      expect(isIn(mode, 'https://example.org:8080/')).toBe(false);
    }
    expect(isIn('subdomains', 'http://a.shop.example.com:8080/')).toBe(true);
    expect(isIn('subdomains', 'http://a.shop.example.com/')).toBe(false);
    expect(isIn('domain', 'http://blog.example.com:8080/')).toBe(true);
    expect(isIn('domain', 'http://blog.example.com/')).toBe(false);
    expect(isIn('any', 'http://127.0.0.1:9090/')).toBe(true);
    expect(judge('http://127.0.0.1:9090/', { startHosts: ['127.0.0.1:8080'] }).reason).toBe(
      'scope: host 127.0.0.1:9090 is not one of 127.0.0.1:8080',
    );
    for (const listed of ['127.0.0.1', '127.0.0.1:9090'])
      expect(isIn('host', 'http://127.0.0.1:9090/', [listed])).toBe(true);
    expect(isIn('host', 'http://127.0.0.1:9091/', ['127.0.0.1:9090'])).toBe(false);
    expect(isIn('host', 'http://a.example.net:81/', ['*.example.net:81'])).toBe(true);
    expect(isIn('host', 'http://a.example.net/', ['*.example.net:81'])).toBe(false);
    expect(isIn('host', 'https://a.example.net/', ['*.example.net:443'])).toBe(true);
  });

  it('are all in mode any, and listed or quality domains in every mode', () => {
    expect(judge('https://other.com/', { hostMode: 'any' })).toEqual(WANTED);
    expect(judge('https://x.cdn.test/', { allowedDomains: ['*.cdn.test'] })).toEqual(WANTED);
    expect(judge('https://q.test/', { quality: ['q.test'] })).toEqual(WANTED);
  });

  it('are told shortly when there are many', () => {
    const startHosts = Array.from({ length: 8 }, (_, i) => `h${i}.test`);
    expect(judge('https://x.test/', { startHosts }).reason).toBe(
      'scope: host x.test is not one of h0.test, h1.test, h2.test, h3.test, h4.test and 3 more',
    );
  });

  it('are still right after many hosts went by', () => {
    const scope = createScope({ startHosts: ['example.com'], hostMode: 'host' });
    for (let i = 0; i < 10_000; i++)
      expect(scope.classify(candidate(`https://h${i}.test/`)).state).toBe('Skipped');
    expect(scope.classify(candidate('https://example.com/')).state).toBe('Queued');
  });
});

describe('domain lists', () => {
  const lists: Partial<ScopeOptions> = {
    hostMode: 'any',
    blacklist: ['*.ads.test', 'both.test'],
    stub: ['github.com', 'both.test'],
    quality: ['*.example.com', 'github.com'],
  };

  it('give Blacklisted and Stubbed with the pattern, blacklist first, even for start URLs', () => {
    expect(judge('https://x.ads.test/', lists)).toEqual({
      state: 'Blacklisted',
      priority: 2,
      reason: 'blacklist: *.ads.test',
    });
    expect(judge('https://github.com/a', lists, { isStart: true })).toMatchObject({
      state: 'Stubbed',
      reason: 'stub: github.com',
    });
    expect(judge('https://both.test/', lists).state).toBe('Blacklisted');
  });

  it('classify a domain: blacklist, stub, quality, discovered', () => {
    const scope = createScope({ startHosts: [], hostMode: 'any', ...lists });
    expect(['both.test', 'github.com', 'a.example.com', 'new.test'].map(scope.domainKind)).toEqual([
      'blacklist',
      'stub',
      'quality',
      'discovered',
    ]);
  });
});

describe('include and exclude', () => {
  const { include, exclude } = PATTERN_PRESETS.shopify;

  it('fetch what include matches and record the rest as skipped', () => {
    expect(judge('https://example.com/collections/a', { include })).toEqual(WANTED);
    expect(judge('https://example.com/about', { include })).toEqual({
      state: 'Skipped',
      priority: 2,
      reason: 'include: no pattern matches',
    });
  });

  it('fetch the rest after them in mode prefer', () => {
    expect(judge('https://example.com/about', { include, includeMode: 'prefer' })).toEqual({
      state: 'Queued',
      priority: 2,
      reason: null,
    });
  });

  it('let exclude win', () => {
    expect(judge('https://example.com/collections/a/products/b', { include, exclude })).toMatchObject({
      state: 'Skipped',
      reason: 'exclude: /products/',
    });
  });

  it('exempt start URLs, which come first', () => {
    const verdict = judge('https://example.com/cart/', { include, exclude }, { isStart: true, depth: 0 });
    expect(verdict).toEqual({ state: 'Queued', priority: 0, reason: null });
  });

  it('match the URL that is fetched, not the identity', () => {
    const more = { url: 'https://example.com/page' };
    expect(judge('https://example.com/Page/?sort=1', { exclude: ['\\?sort='] }, more).reason).toBe(
      'exclude: \\?sort=',
    );
  });

  it('have the presets of the specification', () => {
    expect(PATTERN_PRESETS['non-content'].exclude).toEqual([
      '/products/',
      '/account/',
      '/cart/',
      '/checkout/',
      '/policies/',
      '/apps/',
    ]);
    expect(PATTERN_PRESETS['non-content'].include).toEqual([]);
    expect(include).toEqual(['/collections/', '/pages/']);
  });

  it('refuse what is no expression when the scope is made', () => {
    expect(() => createScope({ startHosts: [], hostMode: 'any', include: ['('] })).toThrow(
      InvalidPatternError,
    );
  });
});

describe('the other rules', () => {
  it('depth', () => {
    expect(judge('https://example.com/a', { maxDepth: 3 }, { depth: 4 })).toEqual({
      state: 'DepthExceeded',
      priority: 2,
      reason: 'depth: 4 > 3',
    });
    expect(judge('https://example.com/a', { maxDepth: 3 }, { depth: 3 }).state).toBe('Queued');
    expect(judge('https://example.com/a', { maxDepth: null }, { depth: 9999 }).state).toBe('Queued');
    expect(judge('https://example.com/a', { maxDepth: 0 }).reason).toBe('depth: 1 > 0');
  });

  it('scheme', () => {
    expect(judge('ftp://example.com/a').reason).toBe('scheme: ftp');
    expect(judge('http://example.com/a', { schemes: ['https'] }).reason).toBe('scheme: http');
  });

  it('type, by extension, but for start URLs', () => {
    const skippedExtensions = SKIPPED_EXTENSIONS;
    expect(judge('https://example.com/a/photo.JPG?w=1', { skippedExtensions }).reason).toBe(
      'type: extension .jpg',
    );
    expect(judge('https://example.com/photo.jpg', { skippedExtensions }, { isStart: true }).state).toBe(
      'Queued',
    );
    for (const url of [
      'https://example.com/a.b/c',
      'https://example.com/',
      'https://example.com/x.html',
      'https://example.com/?f=a.jpg',
      'https://example.com/.zip/',
      'https://example.com/jpg',
    ]) {
      expect(judge(url, { skippedExtensions }).state, url).toBe('Queued');
    }
    expect(judge('https://example.zip/', { startHosts: ['example.zip'] }).state).toBe('Queued');
    expect(judge('https://example.com/a.jpg', { skippedExtensions: ['.Html'] }).state).toBe('Queued');
    expect(judge('https://example.com/a.html', { skippedExtensions: ['.Html'] }).reason).toBe(
      'type: extension .html',
    );
    expect(judge('https://example.com/a.jpg', { skippedExtensions: [] }).state).toBe('Queued');
  });

  it('path', () => {
    const options = { paths: ['/docs/', '/api'] };
    for (const path of ['/docs/', '/docs', '/docs?x', '/docs/a', '/api', '/api2']) {
      expect(judge(`https://example.com${path}`, options).state, path).toBe('Queued');
    }
    for (const path of ['/', '/doc', '/docs2', '/a/docs/']) {
      expect(judge(`https://example.com${path}`, options).reason, path).toBe('path: outside /docs/, /api');
    }
  });

  it('nofollow, where it is respected', () => {
    expect(judge('https://example.com/a', { respectNofollow: true }, { isNofollow: true }).reason).toBe(
      'nofollow: link',
    );
    expect(judge('https://example.com/a', {}, { isNofollow: true }).state).toBe('Queued');
  });
});

describe('extension points', () => {
  it('ask extra rules after the domain lists and before the rest', () => {
    const options: Partial<ScopeOptions> = {
      blacklist: ['bad.test'],
      extraRules: [
        ({ fetchUrl }) =>
          fetchUrl.includes('secret') ? { state: 'Skipped', priority: 2, reason: 'custom: secret' } : null,
        ({ host }) => (host.endsWith('.test') ? { state: 'Queued', priority: 5, reason: null } : null),
      ],
    };
    expect(judge('https://example.com/secret', options).reason).toBe('custom: secret');
    expect(judge('https://x.test/a.jpg', options)).toEqual({ state: 'Queued', priority: 5, reason: null });
    expect(judge('https://bad.test/', options).state).toBe('Blacklisted');
    expect(judge('https://example.com/a', options)).toEqual(WANTED);
  });

  it('let a function set the priority of what is queued', () => {
    const options: Partial<ScopeOptions> = { priorityOf: ({ depth }, priority) => priority + depth * 10 };
    expect(judge('https://example.com/a', options, { depth: 2 }).priority).toBe(21);
    expect(judge('https://other.com/a', options, { depth: 2 }).priority).toBe(2);
  });
});

import { describe, expect, it } from 'vitest';
import { isProductToken, parseRobotsTxt, ROBOTS_BODY_LIMIT_BYTES, rulesFor } from './robots-txt.ts';

function rules(body: string | Uint8Array, agent = 'SumiRipple') {
  return rulesFor(parseRobotsTxt(body), agent);
}

function allows(body: string | Uint8Array, url: string, agent = 'SumiRipple') {
  return rules(body, agent).decide(url).allowed;
}

describe('which group binds a crawler', () => {
  it('takes the group that names it, in any case and with a version, before the group for all', () => {
    const body = 'User-agent: *\nDisallow: /\n\nUser-agent: SUMIripple/9.9\nDisallow: /private/\n';
    expect(allows(body, 'https://a.test/page')).toBe(true);
    expect(allows(body, 'https://a.test/private/x')).toBe(false);
    expect(allows(body, 'https://a.test/page', 'OtherBot')).toBe(false);
  });

  it('does not take a group whose name only begins like its own', () => {
    expect(allows('User-agent: Sumi\nDisallow: /\n', '/x')).toBe(true);
    expect(allows('User-agent: SumiRippleNews\nDisallow: /\n', '/x')).toBe(true);
  });

  it('merges all groups that name it', () => {
    const body =
      'User-agent: SumiRipple\nDisallow: /a\n\nUser-agent: x\nDisallow: /\n\nUser-agent: sumiripple\nDisallow: /b\n';
    expect(allows(body, '/a')).toBe(false);
    expect(allows(body, '/b')).toBe(false);
    expect(allows(body, '/c')).toBe(true);
  });

  it('lets several user-agent lines share rules, blank lines and other records between them', () => {
    const body = 'User-agent: a\n\nSitemap: https://a.test/s.xml\nUser-agent: SumiRipple\nDisallow: /x\n';
    expect(allows(body, '/x', 'a')).toBe(false);
    expect(allows(body, '/x')).toBe(false);
  });

  it('ignores rules before the first user-agent line', () => {
    expect(allows('Disallow: /\nUser-agent: *\nDisallow: /x\n', '/y')).toBe(true);
  });
});

describe('which rule decides', () => {
  it('names the line that decided', () => {
    const body = 'User-agent: *\nDisallow: /private/\nAllow: /private/open\n';
    expect(rules(body).decide('https://a.test/private/x')).toEqual({
      allowed: false,
      rule: 'Disallow /private/',
    });
    expect(rules(body).decide('/private/open/1')).toEqual({ allowed: true, rule: 'Allow /private/open' });
    expect(rules(body).decide('/other')).toEqual({ allowed: true, rule: null });
  });

  it('lets the longest match win and allow win a tie', () => {
    expect(allows('User-agent: *\nDisallow: /page\nAllow: /page\n', '/page')).toBe(true);
    expect(allows('User-agent: *\nAllow: /p\nDisallow: /page\n', '/page')).toBe(false);
  });

  it('counts octets, not characters', () => {
    // The rule with two letters outside ASCII is shorter in characters and longer in octets.
    expect(allows('User-agent: *\nDisallow: /日本\nAllow: /*/////////', '/日本/////////')).toBe(false);
  });

  it('understands * and a closing $', () => {
    const body = 'User-agent: *\nDisallow: /*.php$\nDisallow: /a*b*c\n';
    expect(allows(body, '/x/index.php')).toBe(false);
    expect(allows(body, '/x/index.php?y')).toBe(true);
    expect(allows(body, '/axxbyyc/more')).toBe(false);
    expect(allows(body, '/axxcyyb')).toBe(true);
  });

  it('anchors the last piece at the end even where it also occurs before', () => {
    expect(allows('User-agent: *\nDisallow: /*ab$\n', '/abxab')).toBe(false);
    expect(allows('User-agent: *\nDisallow: /a*a$\n', '/a')).toBe(true);
  });

  it('takes %2A and %24 as the characters themselves', () => {
    const body = 'User-agent: *\nDisallow: /file-with-a-%2A.html\nDisallow: /price-%24\n';
    expect(allows(body, '/file-with-a-*.html')).toBe(false);
    expect(allows(body, '/file-with-a-x.html')).toBe(true);
    expect(allows(body, '/price-$5')).toBe(false);
  });

  it('holds different spellings of the same octets equal', () => {
    expect(allows('User-agent: *\nDisallow: /caf%c3%a9\n', '/café')).toBe(false);
    expect(allows('User-agent: *\nDisallow: /café\n', '/caf%C3%A9/menu')).toBe(false);
    expect(allows('User-agent: *\nDisallow: /%7Ejoe\n', '/~joe/')).toBe(false);
    expect(allows('User-agent: *\nDisallow: /a%2Fb\n', '/a/b')).toBe(true);
    expect(allows('User-agent: *\nDisallow: /q?u=https://x.test\n', '/q?u=https%3A%2F%2Fx.test')).toBe(false);
    expect(allows('User-agent: *\nDisallow: /à\n', '/%C3%A0')).toBe(false);
  });

  it('always allows /robots.txt and treats an empty rule as none', () => {
    expect(allows('User-agent: *\nDisallow: /\n', 'https://a.test/robots.txt')).toBe(true);
    expect(allows('User-agent: *\nDisallow:\n', '/x')).toBe(true);
  });

  it('matches the query but neither fragment nor host', () => {
    const body = 'User-agent: *\nDisallow: /*sessionid=\nDisallow: /*top\n';
    expect(allows(body, 'https://sessionid=.test/page')).toBe(true);
    expect(allows(body, 'https://a.test?sessionid=1')).toBe(false);
    expect(allows(body, 'https://a.test/page#top')).toBe(true);
  });

  it('answers hostile patterns of many stars', () => {
    const body = `User-agent: *\nDisallow: /${'*a'.repeat(2000)}*b\nDisallow: /${'*'.repeat(100_000)}z\n`;
    expect(allows(`User-agent: *\nDisallow: /*a*a*a*a*a*a*a*a*b`, `/${'a'.repeat(100_000)}`)).toBe(true);
    expect(allows(body, `/${'a'.repeat(100_000)}`)).toBe(true);
    expect(allows(body, `/${'a'.repeat(100_000)}b`)).toBe(false);
  });
});

describe('reading the file', () => {
  it('takes LF, CR and CRLF, a byte order mark, comments and blanks round the colon', () => {
    for (const end of ['\n', '\r', '\r\n']) {
      const body = `\ufeffUser-agent : * # all${end}  Disallow\t:\t/x # no${end}`;
      expect(allows(body, '/x')).toBe(false);
      expect(allows(body, '/y')).toBe(true);
    }
  });

  it('reads UTF-16 with its mark, bytes that are no UTF-8, HTML and nothing at all', () => {
    const utf16 = Buffer.from('\ufeffUser-agent: *\nDisallow: /x\n', 'utf16le');
    expect(allows(utf16, '/x')).toBe(false);
    const invalid = Buffer.concat([
      Buffer.from('User-agent: *\nDisallow: /'),
      Buffer.from([0xe9, 0xff, 0x0a]),
    ]);
    expect(allows(invalid, '/%E9%FFx')).toBe(false);
    expect(allows('<!doctype html><title>404: Disallow: /</title>', '/')).toBe(true);
    expect(allows('', '/')).toBe(true);
  });

  it('stops at 500 KiB and drops the line that is cut in half', () => {
    const head = 'User-agent: *\nDisallow: /first\n';
    const filler = `#${'x'.repeat(ROBOTS_BODY_LIMIT_BYTES - head.length - 'Disallow: /'.length - 2)}\n`;
    const body = `${head}${filler}Disallow: /late\n`;
    expect(body.slice(0, ROBOTS_BODY_LIMIT_BYTES).endsWith('Disallow: /')).toBe(true);
    expect(allows(body, '/first')).toBe(false);
    expect(allows(body, '/other')).toBe(true);
    expect(allows(body, '/late')).toBe(true);
  });

  it('reads long runs of blanks in a line', () => {
    expect(allows(`User-agent: *\nDisallow: /a${' '.repeat(400_000)}b\n`, '/a')).toBe(true);
  });

  it('collects sitemaps wherever they stand', () => {
    const body = 'Sitemap: https://a.test/1.xml\nUser-agent: b\nSITEMAP: https://a.test/é.xml\nsitemap:\n';
    expect(rules(body).sitemaps).toEqual(['https://a.test/1.xml', 'https://a.test/é.xml']);
  });
});

describe('how fast', () => {
  it('reads Crawl-delay with fractions and ignores what is no number', () => {
    expect(rules('User-agent: *\nCrawl-delay: 0.5\n').crawlDelaySeconds).toBe(0.5);
    expect(rules('User-agent: *\nCrawl-delay: 90\n').delaySeconds).toBe(90);
    expect(rules('User-agent: *\nCrawl-delay: soon\n').crawlDelaySeconds).toBeNull();
    expect(rules('User-agent: *\nCrawl-delay: -1\n').crawlDelaySeconds).toBeNull();
    expect(rules('Crawl-delay: 5\nUser-agent: *\nDisallow: /x\n').crawlDelaySeconds).toBeNull();
  });

  it('does not take the delay of the group for all when it is named', () => {
    expect(
      rules('User-agent: *\nCrawl-delay: 9\nDisallow:\nUser-agent: SumiRipple\nDisallow: /x\n').delaySeconds,
    ).toBeNull();
  });

  it('takes the longest of several delays', () => {
    expect(rules('User-agent: *\nCrawl-delay: 2\nCrawl-delay: 7\nCrawl-delay: 3\n').crawlDelaySeconds).toBe(
      7,
    );
  });

  it('reads Request-rate with units and turns it into a delay', () => {
    expect(rules('User-agent: *\nRequest-rate: 1/5\n').requestRate).toEqual({ requests: 1, seconds: 5 });
    expect(rules('User-agent: *\nRequest-rate: 10/1m 0600-0845\n').delaySeconds).toBe(6);
    expect(rules('User-agent: *\nRequest-rate: 1/2h\n').delaySeconds).toBe(7200);
    expect(rules('User-agent: *\nRequest-rate: 0/5\n').requestRate).toBeNull();
    expect(rules('User-agent: *\nRequest-rate: 1/5\nCrawl-delay: 8\n').delaySeconds).toBe(8);
  });
});

describe('product tokens', () => {
  it('are letters, - and _ only', () => {
    expect(isProductToken('Sumi-Ripple_x')).toBe(true);
    for (const text of ['', 'a b', 'a/1', 'a1', 'é', '*']) expect(isProductToken(text)).toBe(false);
  });
});

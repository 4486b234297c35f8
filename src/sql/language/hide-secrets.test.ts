import { expect, it } from 'vitest';
import { hideSecrets } from './hide-secrets.ts';

it.each([
  ["CRAWL (SELECT 'https://a.test/x') INTO t", "CRAWL (SELECT 'https://a.test/x') INTO t"],
  ["WITH (auth 'me:pass')", "WITH (auth '***')"],
  ["WITH (AUTH = E'me:p\\'ass', threads 2)", "WITH (AUTH = '***', threads 2)"],
  ["WITH (header ['a: b', 'c: d'], cookie $$x=y$$)", "WITH (header ['***', '***'], cookie '***')"],
  ["WITH (http_proxy 'http://me:pass@p:1')", "WITH (http_proxy 'http://me:***@p:1')"],
  ["WITH (user_agent 'it''s me')", "WITH (user_agent 'it''s me')"],
  ["WITH (\"auth\" 'me:pass') -- 'end", "WITH (\"auth\" '***') -- 'end"],
])('%s is shown as %s', (statement, shown) => {
  expect(hideSecrets(statement)).toBe(shown);
});

it('masks the login of an address, wherever it stands', () => {
  const shown = hideSecrets("CRAWL (SELECT 'https://me:pass@a.test/') INTO t");
  expect(shown).not.toContain('pass');
  expect(shown).toContain('a.test');
});

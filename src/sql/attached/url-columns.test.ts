import { describe, expect, it } from 'vitest';
import { urlColumns } from './url-columns.ts';

const of = (url: string, ...names: string[]) => urlColumns(names, [url]).map(([value]) => value);

describe('columns of a URL', () => {
  it('count the parts of a host from its end', () => {
    const names = [
      'url_host_tld',
      'url_host_2nd_last_part',
      'url_host_3rd_last_part',
      'url_host_4th_last_part',
    ];
    expect(of('https://www.example.com/', ...names)).toEqual(['com', 'example', 'www', null]);
  });

  it('have no parts where the host is an address', () => {
    const names = [
      'url_host_name',
      'url_host_tld',
      'url_host_name_reversed',
      'url_host_registered_domain',
      'url_port',
    ];
    expect(of('http://127.0.0.1:8080/a', ...names)).toEqual(['127.0.0.1', null, null, null, 8080]);
    expect(of('http://[::1]/a', ...names)).toEqual(['::1', null, null, null, null]);
  });

  it('tell an empty query from none as little as a browser does', () => {
    expect(of('https://a.test/x?', 'url_path', 'url_query')).toEqual(['/x', null]);
    expect(of('https://a.test?q=1', 'url_path', 'url_query', 'url_surtkey')).toEqual([
      '/',
      'q=1',
      'test,a)/?q=1',
    ]);
  });

  it('are NULL for a text that is no URL', () => {
    expect(of('no url', 'url_path', 'url_surtkey')).toEqual([null, null]);
  });
});

/** Functions about URLs: what the crawler makes of them, without any request. */
import { type DuckDBScalarFunction, DuckDBStructValue, INTEGER, STRUCT, VARCHAR } from '@duckdb/node-api';
import { createNormalizer } from '../../url/normalize.ts';
import { registrableDomain } from '../../url/registrable-domain.ts';
import { surtKey } from '../../url/surt.ts';
import { textOf } from './arguments.ts';
import type { FunctionErrors } from './function-errors.ts';
import { makeScalar, rowByRow } from './scalar-function.ts';

const URL_PARTS = STRUCT({
  scheme: VARCHAR,
  host: VARCHAR,
  port: INTEGER,
  path: VARCHAR,
  query: VARCHAR,
  fragment: VARCHAR,
  domain: VARCHAR,
});

export function urlFunctions(errors: FunctionErrors): DuckDBScalarFunction[] {
  const { normalize } = createNormalizer({ preset: 'standard' });

  function ofText(call: string, answer: (url: string) => string | null): DuckDBScalarFunction {
    const place = { call: `${call}()`, name: 'url' };
    const request = {
      takes: 1,
      returns: VARCHAR,
      answer: rowByRow((read) => {
        const url = textOf(read(0), place);
        return url === null ? null : answer(url);
      }),
    };
    return makeScalar(`sumi_${call}`, request, errors);
  }

  const place = { call: 'url_parts()', name: 'url' };
  return [
    ofText('normalize_url', (url) => normalize(url)?.url ?? null),
    ofText('surt', surtKey),
    ofText('registrable_domain', (url) => domainOf(url)),
    makeScalar(
      'sumi_url_parts',
      {
        takes: 1,
        returns: URL_PARTS,
        answer: rowByRow((read) => {
          const url = textOf(read(0), place);
          return url === null ? null : partsOf(url);
        }),
      },
      errors,
    ),
  ];
}

/** Of a URL or a host name. */
function domainOf(text: string): string | null {
  const host = text.includes('://') ? (hostOf(text) ?? '') : text.trim().toLowerCase();
  return host === '' ? null : registrableDomain(host.replace(/\.$/, ''));
}

function hostOf(url: string): string | null {
  return URL.canParse(url) ? new URL(url).hostname : null;
}

function partsOf(text: string): DuckDBStructValue | null {
  if (!URL.canParse(text)) return null;
  const { protocol, hostname, port, pathname, search, hash } = new URL(text);
  return new DuckDBStructValue({
    scheme: protocol.slice(0, -1),
    host: hostname || null,
    // As written; the default port of a scheme is none.
    port: port === '' ? null : Number(port),
    path: pathname,
    query: search === '' ? null : search.slice(1),
    fragment: hash === '' ? null : hash.slice(1),
    domain: hostname === '' ? null : registrableDomain(hostname.replace(/\.$/, '')),
  });
}

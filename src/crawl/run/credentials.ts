/**
 * What only the site's own hosts may see of a crawl: the operator's headers, by the origins they go to. An origin is
 * scheme, name and port of a start URL: a redirect to https, to `www.` or to another port leads to another origin, which
 * gets nothing. A bare host counts as https only, because anybody on the way can make https fail and listen to http.
 */
import type { Config } from '../../config/load-config.ts';
import type { RequestHeaders } from '../../config/request-headers.ts';
import { sumiError } from '../../errors.ts';
import type { StartUrl } from '../parts.ts';

/** The key, among the stored options of a run, of the names of the headers that it was begun with. */
export const CREDENTIALS_KEY = 'credentials';

type Credentials = Pick<Config, 'requestHeaders'>;

/** Header fields (name, value, name, …) by origin; empty when there are none. */
export function headersByOrigin(
  { requestHeaders }: Credentials,
  startUrls: readonly StartUrl[],
): ReadonlyMap<string, readonly string[]> {
  const byOrigin = new Map<string, Map<string, string>>();
  if (requestHeaders.size === 0 && startUrls.every(({ authorization }) => authorization === undefined))
    return new Map();
  for (const { fetchUrl, authorization } of startUrls) {
    const { origin } = new URL(fetchUrl);
    const headers = byOrigin.get(origin) ?? new Map(requestHeaders);
    // What stands in the URL is meant for it; of two that differ the last one counts.
    if (authorization !== undefined) headers.set('authorization', authorization);
    if (headers.size > 0) byOrigin.set(origin, headers);
  }
  return new Map([...byOrigin].map(([origin, headers]) => [origin, [...headers].flat()]));
}

/** Names of the headers, in alphabetical order. */
export function credentialNames(
  { requestHeaders }: Credentials,
  startUrls: readonly StartUrl[] = [],
): string[] {
  const isInUrl = startUrls.some(({ authorization }) => authorization !== undefined);
  return [...new Set([...requestHeaders.keys(), ...(isInUrl ? ['authorization'] : [])])].sort();
}

/** The headers of a worker or a resumed run: those that the run was begun with, and no others. */
export function wantedHeaders({ requestHeaders }: Credentials, run: { config: string }): RequestHeaders {
  const wanted = new Set(namesOf(run));
  return new Map([...requestHeaders].filter(([name]) => wanted.has(name)));
}

/** Throws where the run was begun with headers that are not given now. */
export function refuseWithoutCredentials(
  config: Credentials,
  run: { config: string; run: number },
  startUrls: readonly StartUrl[] = [],
): void {
  const given = new Set(credentialNames(config, startUrls));
  const missing = namesOf(run).filter((name) => !given.has(name));
  if (missing.length === 0) return;
  throw sumiError('credentials-missing', {
    run: run.run,
    names: missing.map(spoken).join(', '),
    how: missing.map(optionFor).join(' '),
  });
}

function namesOf({ config }: { config: string }): readonly string[] {
  return (JSON.parse(config) as { [CREDENTIALS_KEY]?: string[] })[CREDENTIALS_KEY] ?? [];
}

const spoken = (name: string) => `the header ${name.replace(/(^|-)([a-z])/g, (part) => part.toUpperCase())}`;

function optionFor(name: string): string {
  if (name === 'authorization') return '--auth USER:PASSWORD (or --header "Authorization: …", as before)';
  return name === 'cookie' ? '--cookie "NAME=VALUE"' : `--header "${name}: VALUE"`;
}

/**
 * Which proxy serves which scheme: --proxy for both, else HTTP_PROXY, HTTPS_PROXY and ALL_PROXY of the environment
 * (small letters win, as in curl). NO_PROXY always names exceptions. Only says so; connecting is fetch's.
 */

import { sumiError } from '../errors.ts';
import { maskPassword } from './show-value.ts';

export interface Proxies {
  readonly http?: string;
  readonly https?: string;
  /** Hosts asked directly, as NO_PROXY lists them. */
  readonly no?: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** `proxy` "none" asks for direct connections whatever the environment says. */
export function chooseProxies(proxy: string | null, place: string, env: Environment): Proxies {
  if (proxy === 'none') return {};
  const no = lookUp(env, 'NO_PROXY')?.text;
  if (proxy !== null) {
    const url = readProxy(proxy, place);
    return { http: url, https: url, no };
  }
  return { http: fromEnvironment(env, 'HTTP_PROXY'), https: fromEnvironment(env, 'HTTPS_PROXY'), no };
}

function fromEnvironment(env: Environment, name: string): string | undefined {
  const found = lookUp(env, name) ?? lookUp(env, 'ALL_PROXY');
  return found === null ? undefined : readProxy(found.text, `env ${found.name}`);
}

function lookUp(env: Environment, name: string): { name: string; text: string } | null {
  for (const spelling of [name.toLowerCase(), name]) {
    const text = env[spelling];
    if (text !== undefined && text !== '') return { name: spelling, text };
  }
  return null;
}

function readProxy(text: string, place: string): string {
  const withScheme = text.includes('://') ? text : `http://${text}`;
  const url = URL.canParse(withScheme) ? new URL(withScheme) : null;
  const isProxy =
    url !== null && /^https?:$/.test(url.protocol) && url.hostname !== '' && url.pathname === '/';
  if (!isProxy || url.search !== '' || url.hash !== '') {
    throw sumiError('proxy-malformed', { value: maskPassword(text), place });
  }
  return url.href;
}

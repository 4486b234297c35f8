/** What a map would do, for people: seeds with their class, lists, limits, and where it would be stored. Pure text. */
import { pad, printable, showMany } from './terminal-text.ts';

interface PlannedSeed {
  url: string;
  /** The class of its domain, which decides whether it is requested. */
  kind: 'quality' | 'stub' | 'blacklist' | 'discovered';
  /** The origin that it is a seed of, as written. */
  domain: string;
}

export interface TerrainPlan {
  file: string;
  seeds: readonly PlannedSeed[];
  quality: readonly string[];
  blacklist: readonly string[];
  stub: readonly string[];
  maxDepth: number | null;
  concurrency: number;
  delaySeconds: number;
  maxDomainRequests: number | null;
  allowHttp: boolean;
  userAgent: string;
  hasContact: boolean;
  store: string;
  /** Null if only a request to the store would tell. */
  storeExists: boolean | null;
  fresh: boolean;
  project: string;
  summaryPath: string;
}

const FATES = {
  quality: 'is asked for',
  discovered: 'is asked for',
  stub: 'is recorded, never asked for: its domain is in [[stub]]',
  blacklist: 'is recorded, never asked for: its domain is in [[blacklist]]',
} as const;

export function renderTerrainPlan(plan: TerrainPlan): string[] {
  const width = Math.max(...plan.seeds.map(({ kind }) => kind.length));
  return [
    `${printable(plan.file)} is in order. A dry run: nothing was asked for, looked up or written.`,
    '',
    `Would map ${showMany(plan.quality.length, 'quality domain')} from ${showMany(plan.seeds.length, 'seed')}:`,
    ...plan.seeds.map(
      ({ url, kind, domain }) =>
        `  ${pad(kind, width)}  ${printable(url)}  (${printable(domain)}) ${FATES[kind]}`,
    ),
    '',
    ...listed('Blacklist', plan.blacklist),
    ...listed('Stub list', plan.stub),
    ...facts(plan).map(([name, value]) => `${pad(name, 12)}${printable(value)}`),
    ...(plan.hasContact
      ? []
      : ['', 'Advice: contact-url or contact-email under [user-agent] lets the owners of sites reach you.']),
  ];
}

function listed(name: string, domains: readonly string[]): string[] {
  return [`${pad(name, 12)}${domains.length === 0 ? 'none' : domains.map(printable).join(', ')}`];
}

function facts(plan: TerrainPlan): [string, string][] {
  const { maxDepth, maxDomainRequests, concurrency, delaySeconds } = plan;
  const limits = [
    maxDepth === null ? 'any depth' : `depth up to ${maxDepth}`,
    `${showMany(concurrency, 'page')} open at once`,
    `${Math.round(delaySeconds * 1000)} ms between requests to a domain`,
    maxDomainRequests === null
      ? 'any number of requests to a domain'
      : `at most ${showMany(maxDomainRequests, 'request')} to a domain in a run`,
    plan.allowHttp ? 'http and https' : 'https only',
  ];
  const found = plan.storeExists === null ? '' : plan.storeExists ? ' (exists)' : ' (new)';
  const how = plan.fresh && plan.storeExists !== false ? ', what it holds of this map is forgotten' : '';
  return [
    ['Limits', limits.join(', ')],
    ['Asks as', plan.userAgent],
    ['Kept in', `${plan.store}${found}, project ${plan.project}${how}`],
    ['Summary', plan.summaryPath],
  ];
}

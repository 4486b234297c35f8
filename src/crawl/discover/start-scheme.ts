/** By which scheme a bare host speaks, since nobody else may request anything of it before that is known. */
import type { LeasedHosts } from '../hosts/leased-hosts.ts';
import type { CrawlParts, StartUrl } from '../parts.ts';

/** A bare host is requested by https, and by http where nobody speaks https. */
export async function withScheme(
  start: StartUrl,
  { store, clock, normalizer }: Pick<CrawlParts, 'store' | 'clock' | 'normalizer'>,
  hosts: Pick<LeasedHosts, 'answers'>,
): Promise<StartUrl> {
  const plain = plainOf(normalizer, start);
  if (plain === null) return start;
  const origins = [start, plain].map(({ fetchUrl }) => new URL(fetchUrl).origin);
  const [secureRobots, plainRobots] = await Promise.all(origins.map((origin) => store.hosts.robots(origin)));
  const isFresh = (robots: typeof plainRobots) =>
    robots !== null && robots.status > 0 && robots.expiresAt > clock.now();
  if (isFresh(secureRobots)) return start;
  if (isFresh(plainRobots)) return plain;
  if (await hosts.answers(start.fetchUrl)) return start;
  return (await hosts.answers(plain.fetchUrl)) ? plain : start;
}

function plainOf(normalizer: CrawlParts['normalizer'], start: StartUrl): StartUrl | null {
  const found = normalizer.normalize(start.fetchUrl.replace(/^https:/, 'http:'));
  return found?.fetchUrl.startsWith('http:') ? { ...found, isBare: true } : null;
}

/** What a map would begin with: each seed with the class that decides whether it is asked for. Asks nobody. */
import type { Config } from '../config/load-config.ts';
import { withoutCredentials } from '../config/url-credentials.ts';
import { createScope, type DomainKind } from '../scope/classify.ts';
import { createNormalizer } from '../url/normalize.ts';

export interface PlannedSeed {
  url: string;
  kind: DomainKind;
  /** Of which origin it is a seed, as written. */
  domain: string;
}

export function planSeeds({ terrain, normalize }: Pick<Config, 'terrain' | 'normalize'>): PlannedSeed[] {
  const { quality, blacklist, stub } = terrain;
  const domains = quality.map(({ domain }) => domain);
  const scope = createScope({ startHosts: [], hostMode: 'any', quality: domains, blacklist, stub });
  const normalizer = createNormalizer({ preset: normalize });
  // A seed that cannot be normalized has been refused with its file.
  return quality.flatMap(({ domain, seeds }) =>
    seeds.map((url) => ({
      url: withoutCredentials(url),
      domain,
      kind: scope.domainKind(normalizer.normalize(url)!.host),
    })),
  );
}

/** An opened store for one crawl, with some verbs of its run in other words. It is closed when the run leaves it. */
import type { FrontierPort } from '../../src/store/frontier-port.ts';
import type { HistoryPort } from '../../src/store/history-port.ts';
import type { HostPort } from '../../src/store/host-port.ts';
import type { RunPort } from '../../src/store/run-port.ts';
import type { SitemapPort } from '../../src/store/sitemap-port.ts';
import type { JoinedRun, RunStore, Store } from '../../src/store/store-port.ts';

/** Verbs of any role: no two roles have one of the same name. */
export type ChangedVerbs = Partial<FrontierPort & RunPort & HostPort & SitemapPort & HistoryPort>;

export function withVerbs(store: Store, change: (own: RunStore) => ChangedVerbs): Store {
  const changed = <Session extends RunStore>(own: Session): Session => {
    const verbs = Object.entries(change(own));
    const over = <Port extends object>(port: Port): Port => ({
      ...port,
      ...Object.fromEntries(verbs.filter(([name]) => name in port)),
    });
    return {
      ...own,
      frontier: over(own.frontier),
      run: over(own.run),
      hosts: over(own.hosts),
      sitemaps: over(own.sitemaps),
      history: over(own.history),
      async leave() {
        await own.leave();
        await store.close();
      },
    };
  };
  return {
    ...store,
    begin: async (request) => changed(await store.begin(request)),
    async join(runId, owner) {
      const joined = await store.join(runId, owner);
      return joined === null ? null : changed<JoinedRun>(joined);
    },
  };
}

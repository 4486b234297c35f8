/**
 * The contract of the store port: every adapter runs it whole. Each promise of the files src/store/*-port.ts stands here as tests
 * that can fail; nothing looks behind the port except through the documented views.
 */
import { afterEach, beforeEach, describe } from 'vitest';
import { describeClaims } from './store/claim-contract.ts';
import { describeCrawledUrls } from './store/crawled-url-contract.ts';
import { describeDepths } from './store/depth-contract.ts';
import type { StartHarness, StoreHarness } from './store/harness.ts';
import { describeHistory } from './store/history-contract.ts';
import { describeKeeping } from './store/keep-contract.ts';
import { describeLeases } from './store/lease-contract.ts';
import { describeLeftOut } from './store/left-out-contract.ts';
import { describeLinks } from './store/link-contract.ts';
import { describeMaps } from './store/map-contract.ts';
import { describeOffers } from './store/offer-contract.ts';
import { describeOrphans } from './store/orphan-contract.ts';
import { describeRedirects } from './store/redirect-contract.ts';
import { describeRequeue } from './store/requeue-contract.ts';
import { describeRuns } from './store/run-contract.ts';
import { describeSessions } from './store/session-contract.ts';
import { describeSettlements } from './store/settle-contract.ts';
import { describeSitemaps } from './store/sitemap-contract.ts';
import { describeWorkers } from './store/worker-contract.ts';

export function describeStore(name: string, start: StartHarness): void {
  describe(`the store on ${name}`, () => {
    let harness: StoreHarness;
    beforeEach(async () => {
      harness = await start();
    });
    afterEach(() => harness.cleanUp());
    const now = () => harness;
    describeOffers(now);
    describeLeases(now);
    describeClaims(now);
    describeSettlements(now);
    describeLinks(now);
    describeRedirects(now);
    describeDepths(now);
    describeMaps(now);
    describeRuns(now);
    describeHistory(now);
    describeCrawledUrls(now);
    describeRequeue(now);
    describeSitemaps(now);
    describeOrphans(now);
    describeKeeping(now);
    describeLeftOut(now);
    describeWorkers(now);
    describeSessions(now);
  });
}

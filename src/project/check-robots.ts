/**
 * May an agent request these URLs, by their robots.txt, and how long does it have to wait between two requests? A file
 * that the store has and that is fresh is not requested again. What cannot be read allows nothing, as in a crawl.
 */

import type { Config } from '../config/load-config.ts';
import { productToken } from '../config/user-agent.ts';
import { readStartUrls } from '../crawl/run/prepare-run.ts';
import { type Extensions, wireNormalizer, wireParts } from '../crawl/wire.ts';
import { createEventHub } from '../events/event-hub.ts';
import { parseRobotsTxt, rulesFor } from '../politeness/robots-txt.ts';
import { newWorkerName } from '../primitives/worker-name.ts';
import { openPoliteWeb, type PoliteWeb } from '../sitemap/list/polite-web.ts';
import type { StoredRobots } from '../store/host-port.ts';
import type { Store } from '../store/store-port.ts';

export interface RobotsCheck {
  url: string;
  /** The product token that the rules were read for. */
  agent: string;
  allowed: boolean;
  /** The line that decided, or why robots.txt could not be read; null where no line matches. */
  rule: string | null;
  /** Seconds between two requests, by Crawl-delay or Request-rate. */
  crawlDelay: number | null;
  /** The answer to the request for robots.txt; 0 without one. */
  status: number;
}

export interface RobotsQuestion {
  store: Store;
  urls: readonly string[];
  /** Null: the agent of the configuration. */
  agent: string | null;
  signal: AbortSignal;
  /** Judges what is connected to; absent: everything may be. */
  egress?: Extensions['egress'];
}

export async function checkRobots(config: Config, question: RobotsQuestion): Promise<RobotsCheck[]> {
  const { store, urls, signal } = question;
  const normalizer = wireNormalizer(config);
  const starts = readStartUrls(urls, (url) => normalizer.normalize(url));
  const failures: unknown[] = [];
  const session = await store.withoutRun(newWorkerName());
  const parts = wireParts({
    ...{
      config,
      slots: undefined,
      startUrls: starts,
      extensions: { egress: question.egress },
      clock: store.clock,
      store: session,
    },
    ...{ bodies: null, events: createEventHub(store.clock), normalizer },
  });
  const web = openPoliteWeb(parts, {
    ...{ maxBytes: config.maxSitemapBytes, isLogged: false, signal },
    onWait() {},
    onFailure: (error) => void failures.push(error),
  });
  try {
    const agent = question.agent === null ? parts.agentToken : productToken(question.agent);
    const load = (origin: string) => readRobots(origin, web, (of) => session.hosts.robots(of));
    const checks: RobotsCheck[] = [];
    for (const { url, fetchUrl, isBare } of starts) {
      const { robots, origin } = await robotsOf(new URL(fetchUrl), isBare, load);
      const asked = isBare ? fetchUrl.replace(/^https?:\/\/[^/]+/, origin) : fetchUrl;
      const shown = isBare ? (normalizer.normalize(asked)?.url ?? url) : url;
      checks.push({ url: shown, agent, ...decide(asked, agent, robots, config.robotsUnreachable) });
    }
    if (failures.length > 0) throw failures[0];
    return checks;
  } finally {
    parts.lag.stop();
    await parts.fetcher.close();
    await web.close();
    await session.leave();
  }
}

type Load = (origin: string) => Promise<StoredRobots | null>;

/** Asked for once, unless it is known: the answer is kept in the store, a failure, too. */
async function readRobots(origin: string, web: PoliteWeb, stored: Load): Promise<StoredRobots | null> {
  await web.answers(`${origin}/`);
  return stored(origin);
}

/** A bare host that does not answer by https may do so by http. */
async function robotsOf(
  { origin }: URL,
  isBare: boolean,
  load: Load,
): Promise<{ robots: StoredRobots | null; origin: string }> {
  const robots = await load(origin);
  if (!isBare || (robots !== null && robots.status !== 0)) return { robots, origin };
  const plain = origin.replace(/^https:/, 'http:');
  const other = await load(plain);
  return other !== null && other.status !== 0 ? { robots: other, origin: plain } : { robots, origin };
}

function decide(
  url: string,
  agent: string,
  robots: StoredRobots | null,
  whenUnreachable: Config['robotsUnreachable'],
): Pick<RobotsCheck, 'allowed' | 'rule' | 'crawlDelay' | 'status'> {
  const status = robots?.status ?? 0;
  if (robots === null || status === 0 || status === 429 || status >= 500) {
    const why = status === 0 ? 'no answer' : String(status);
    return { allowed: whenUnreachable === 'allow', rule: `unreachable: ${why}`, crawlDelay: null, status };
  }
  const rules = rulesFor(parseRobotsTxt(robots.body ?? ''), agent);
  return { ...rules.decide(url), crawlDelay: rules.delaySeconds, status };
}

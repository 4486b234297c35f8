/** robots_check(): what robots.txt says of URLs to an agent. */
import { loadConfig } from '../../config/load-config.ts';
import { checkRobots, type RobotsCheck } from '../../project/check-robots.ts';
import type { FeedHouse } from './feed-surroundings.ts';

export interface RobotsFeedArgs {
  urls: readonly string[];
  /** Null: ours. */
  agent: string | null;
}

export async function* robotsFeed(
  { urls, agent }: RobotsFeedArgs,
  house: FeedHouse,
  signal: AbortSignal,
): AsyncGenerator<RobotsCheck[], void> {
  const { config: options } = await house.resolve({});
  // It is a question about robots.txt, whether a crawl obeys it or not.
  const config = await loadConfig({ env: {}, profile: 'sql', options: { ...options, robots: true } });
  const store = await house.openStore();
  yield await checkRobots(config, { store, urls, agent, signal });
}

/** Every tool there is, in the order in which clients list them. */
import type { AgentTool } from './agent.ts';
import { changesTool, compareTool } from './tools/changes.ts';
import { getPageTool } from './tools/get-page.ts';
import { listPagesTool } from './tools/list-pages.ts';
import { listProjectsTool } from './tools/list-projects.ts';
import { queryTool } from './tools/query.ts';
import { searchTool } from './tools/search.ts';
import { crawlStatusTool, startCrawlTool, stopCrawlTool } from './tools/steer-crawl.ts';
import { whyTool } from './tools/why.ts';

export const TOOLS: readonly AgentTool[] = [
  startCrawlTool,
  crawlStatusTool,
  stopCrawlTool,
  listProjectsTool,
  listPagesTool,
  getPageTool,
  searchTool,
  changesTool,
  compareTool,
  queryTool,
  whyTool,
];

// Which part of the program may know which: the table that architecture.test.ts holds the imports against.

/** What each part may use, and what it may besides know by type only (ports, and values handed through the loop). */
export const PARTS: Record<string, { uses: string[]; types?: string[] }> = {
  errors: { uses: [] },
  primitives: { uses: [] },
  url: { uses: ['primitives'] },
  // Stages: each takes a value and returns one; none calls another.
  frontier: { uses: ['primitives', 'url'] },
  scope: { uses: ['primitives', 'url'], types: ['frontier'] },
  politeness: { uses: ['primitives', 'url'], types: ['frontier', 'fetch', 'store'] },
  fetch: { uses: ['primitives', 'url'] },
  parse: { uses: ['primitives', 'url'], types: ['store'] },
  // AssemblyScript: what it shares with its caller is constants alone.
  'parse/kernel': { uses: ['parse'] },
  change: { uses: ['primitives', 'url'], types: ['frontier', 'parse', 'store'] },
  // The plan of revisits: numbers in, numbers out.
  'change/revisit': { uses: ['change'] },
  // Typed events, who hears them, and what is counted of them.
  events: { uses: ['primitives', 'frontier', 'change'], types: ['store', 'graph'] },
  // Plain text for terminals and files: tables, changes, progress, summaries.
  render: {
    uses: ['primitives', 'frontier', 'change', 'events'],
    types: ['store', 'graph', 'watch', 'project'],
  },
  // Lists and changes in the formats of programs and people, written to any stream or to files.
  export: {
    uses: ['primitives', 'frontier', 'change', 'render', 'pages/changes', 'store'],
    types: ['graph', 'project'],
  },
  // Patterns and domains are checked before a crawl begins.
  config: { uses: ['primitives', 'url', 'scope'] },
  // The ports, and the one file that knows the adapters.
  // The words of change are stored by their places in its lists.
  store: {
    uses: ['primitives', 'frontier', 'change', 'store/sqlite', 'store/postgres', 'store/files', 'store/s3'],
  },
  'store/sqlite': { uses: ['primitives', 'frontier', 'change', 'store'] },
  'store/postgres': { uses: ['primitives', 'frontier', 'change', 'store'] },
  'store/files': { uses: ['primitives', 'store'] },
  'store/s3': { uses: ['primitives', 'store'] },
  // The link graph, read through the read side: what it measures, and the formats it is exported in.
  graph: {
    uses: ['url', 'frontier', 'parse', 'store', 'graph/formats'],
    types: ['config', 'pages/map'],
  },
  'graph/formats': { uses: ['primitives', 'graph'] },
  crawl: {
    uses: [
      'primitives',
      'url',
      'frontier',
      'scope',
      'politeness',
      'fetch',
      'parse',
      'change',
      'change/revisit',
      'events',
      'config',
      'store',
      'graph',
      'sitemap',
    ],
  },
  // Use cases that every door shares: no flags, no printing.
  project: {
    uses: [
      'primitives',
      'url',
      'frontier',
      'scope',
      'politeness',
      'change',
      'config',
      'crawl',
      'store',
      'graph',
      'watch',
      'pages/map',
      'pages/report',
      'sitemap/list',
      'events',
    ],
    types: ['sitemap'],
  },
  // The terrain as a page, read through the graph. What runs inside the page is a program of its own.
  pages: { uses: ['primitives'] },
  'pages/map': { uses: ['primitives', 'graph', 'pages'], types: ['store'] },
  'pages/map/page': { uses: ['pages/map'] },
  // A project or run as a page, made of what the read side counted.
  'pages/report': {
    uses: ['primitives', 'render', 'store', 'pages'],
    types: ['frontier', 'change', 'graph'],
  },
  'pages/report/page': { uses: ['pages/report'] },
  // What changed as a page.
  'pages/changes': { uses: ['primitives', 'render', 'pages'], types: ['change'] },
  'pages/changes/page': { uses: ['pages/changes'] },
  // One sitemap, and which of them a site has: pure. Asking for them outside of a crawl is a part of its own.
  sitemap: { uses: ['primitives', 'url'], types: ['politeness'] },
  'sitemap/list': {
    uses: ['primitives', 'frontier', 'politeness', 'config', 'events', 'store', 'crawl', 'sitemap'],
    types: ['fetch', 'url'],
  },
  // A project kept fresh: the plan of revisits over the store, and a crawl for what is due.
  watch: {
    uses: ['primitives', 'parse', 'change/revisit', 'config', 'crawl', 'store'],
    types: ['change', 'events'],
  },
  // A small web to show the crawler on: knows nothing of it.
  demo: { uses: [] },
  // SQL in a real DuckDB: statements become crawls, pages become rows.
  sql: {
    uses: [
      'primitives',
      'url',
      'frontier',
      'config',
      'crawl',
      'store',
      'project',
      'parse',
      'parse/extract',
      'sitemap',
      'sitemap/list',
      'render',
    ],
    types: ['events', 'change', 'fetch', 'scope', 'politeness', 'answers'],
  },
  // Rules that take values out of a page: CSS, structured data, meta tags. Off the hot path.
  'parse/extract': { uses: ['parse', 'primitives'] },
  // What a process that lives on does with the runs of many projects: order, steering, schedules, webhooks, live events.
  running: {
    uses: [
      'primitives',
      'url',
      'frontier',
      'fetch',
      'change',
      'config',
      'crawl',
      'store',
      'events',
      'project',
      'watch',
      'sitemap',
    ],
  },
  // The shapes of what programs send and get, as schemas; the page knows their types.
  contract: {
    uses: ['primitives', 'config'],
    types: ['frontier', 'change', 'store', 'running', 'project', 'events', 'graph', 'politeness'],
  },
  // The answers that programs get, the same over REST and MCP.
  answers: {
    uses: [
      'primitives',
      'url',
      'frontier',
      'scope',
      'change',
      'config',
      'fetch',
      'parse',
      'politeness',
      'sitemap',
      'store',
      'graph',
      'graph/formats',
      'project',
      'export',
      'render',
      'pages',
      'pages/changes',
      'contract',
      'running',
      'crawl',
    ],
    types: ['events', 'watch'],
  },
  // REST, WebSocket and SSE: a route checks, calls one function, answers.
  api: {
    uses: ['primitives', 'config', 'contract', 'answers', 'running', 'store', 'fetch'],
    types: ['events', 'project'],
  },
  // Tools for agents, over standard input and output or HTTP.
  mcp: { uses: ['primitives', 'config', 'contract', 'answers', 'running'], types: ['store', 'fetch'] },
  // What programs call beside crawls: use cases with the time and defaults filled in, lists to streams.
  library: { uses: ['config', 'project', 'export'], types: ['store'] },
  // Front doors hold no crawl logic: they start crawls, ask the store's read side, and show what they get.
  index: {
    uses: ['primitives', 'config', 'crawl', 'project', 'library', 'events', 'store', 'sql'],
    types: ['frontier', 'politeness', 'scope', 'fetch', 'url', 'parse', 'change', 'export', 'watch'],
  },
  // The commands: flags in, one use case, text out. The engine and the store they know by type only.
  cli: {
    uses: [
      'primitives',
      'frontier',
      'change',
      'config',
      'project',
      'events',
      'render',
      'export',
      'demo',
      'sql',
    ],
    types: ['crawl', 'store', 'graph'],
  },
};

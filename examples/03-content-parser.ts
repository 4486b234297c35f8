// A parser for a content type that the crawler does not read by itself: here JSON Feed (jsonfeed.org).
// A type with a parser is accepted. The crawler follows the links that the parser returns, as it follows those of a page.
// Run it: npx tsx examples/03-content-parser.ts https://example.com/feed.json
import { type ContentParser, crawl } from 'sumi-ripple';

const start = process.argv[2] ?? 'https://example.com/feed.json';

interface Feed {
  title: string;
  items: { url: string; title?: string; content_text?: string }[];
}

// A parser gets the decoded bytes and returns its result at once, not a promise. Broken input is normal on the web:
// answer it with an empty page. An exception would end the run with the error extension-failed.
const readFeed: ContentParser = ({ body }) => {
  let feed: Feed;
  try {
    feed = JSON.parse(new TextDecoder().decode(body)) as Feed;
  } catch {
    return { title: 'not a feed' };
  }
  return {
    title: feed.title,
    text: feed.items.map(({ title, content_text }) => `${title ?? ''} ${content_text ?? ''}`).join(' '),
    links: feed.items.map(({ url }) => url),
  };
};

const run = await crawl({
  startUrls: [start],
  db: 'feed.db',
  maxDepth: 1, // the feed and the pages that it names
  parsers: { 'application/feed+json': readFeed },
  on: { page: ({ content_type, title, links }) => console.log(`${content_type}: ${title} (${links} links)`) },
});
await run.finished;

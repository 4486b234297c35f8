// A parser for a content type that the crawler does not read by itself: here JSON Feed (jsonfeed.org).
// The type is accepted because a parser for it is given; the links it returns are followed like those of a page.
// Run it: npx tsx examples/03-content-parser.ts https://example.com/feed.json
import { type ContentParser, crawl } from 'sumi-ripple';

const start = process.argv[2] ?? 'https://example.com/feed.json';

interface Feed {
  title: string;
  items: { url: string; title?: string; content_text?: string }[];
}

// A parser answers at once and gets the decoded bytes. Broken input is the web's business, not a reason to end the
// crawl, so it is answered with an empty page; what a parser throws would end the run.
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
  maxDepth: 1, // the feed and what it names
  parsers: { 'application/feed+json': readFeed },
  on: { page: ({ content_type, title, links }) => console.log(`${content_type}: ${title} (${links} links)`) },
});
await run.finished;

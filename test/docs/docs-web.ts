// The sites of docs/sql.md: a shop with a sitemap, products and facts about them, and a museum without a sitemap.
// Promises: one loopback server answers for all of them by the Host header; `setWeek` says which pages the shop has.
import { type Site, serveSite } from '../../src/demo/serve-site.ts';

export interface DocsWeb extends Site {
  /** 1: as at first; 2: a week later, when a price and the news have changed. */
  setWeek(week: 1 | 2): void;
}

interface Page {
  html?: string;
  location?: string;
}
type Pages = Readonly<Record<string, Page>>;

/** The names that have to lead here. */
export const DOCS_HOSTS = ['shop.example', 'museum.example'];

function page(title: string, body: string, head = ''): Page {
  return {
    html: `<!DOCTYPE html><html lang="en"><head><title>${title}</title>${head}</head><body><main><h1>${title}</h1>${body}</main></body></html>`,
  };
}

function product(title: string, price: number, text: string): Page {
  const facts = { '@context': 'https://schema.org', '@type': 'Product', name: title, offers: { price } };
  const head =
    `<meta name="description" content="${text}"><meta property="og:image" content="/img/${title.toLowerCase()}.jpg">` +
    `<script type="application/ld+json">${JSON.stringify(facts)}</script>`;
  return page(
    title,
    `<p class="price">${price} euros</p><p>${text}</p><p><a href="/products">All</a></p>`,
    head,
  );
}

const NAV =
  '<nav><a href="/">Shop</a> <a href="/products">Products</a> <a href="/news">News</a> <a href="/cart">Cart</a></nav>';

function shopPages(week: number): Pages {
  const start = page('The shop', `${NAV}<p>Things for the table, made by hand.</p>`);
  return {
    '/': start,
    '/index.html': start,
    '/products': page(
      'Products',
      `${NAV}<ul><li><a href="/products/mug">Mug</a></li><li><a href="/products/bowl">Bowl</a></li>` +
        '<li><a href="/products/chair">Chair</a></li></ul><p><a href="/index.html">Home</a></p>',
    ),
    '/products/mug': product('Mug', week > 1 ? 14 : 12, 'A mug for every morning'),
    '/products/bowl': product('Bowl', 16, 'A bowl for soup'),
    '/products/plate': product('Plate', 9, 'A plate that nobody links to'),
    '/news': page(
      'News',
      `${NAV}<p>${week > 1 ? 'All mugs for less, this week only.' : 'We open at nine in spring.'} ` +
        'See the <a href="/products/chair">new chair</a> and the <a href="/sale">sale</a>.</p>',
    ),
    '/sale': { location: '/offers' },
    '/offers': { location: '/products' },
  };
}

const MUSEUM: Pages = {
  '/': page('The museum', '<p><a href="/hours">Hours</a> <a href="/tickets">Tickets</a></p>'),
  '/hours': page(
    'Hours',
    '<table><tr><th>day</th><th>open</th></tr><tr><td>Monday</td><td>closed</td></tr>' +
      '<tr><td>Tuesday</td><td>10 to 18</td></tr></table><p><a href="/">Home</a></p>',
  ),
  '/tickets': page('Tickets', '<p>Adults 8 euros. <a href="/">Home</a> <a href="/hours">Hours</a></p>'),
};

const SITEMAP = (week: number) => `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${[
  ['/', '2026-01-05'],
  ['/products/mug', week > 1 ? '2200-01-01' : '2026-02-01'],
  ['/products/bowl', '2026-02-01'],
  ['/products/plate', '2026-02-01'],
]
  .map(([path, day]) => `<url><loc>http://shop.example${path}</loc><lastmod>${day}</lastmod></url>`)
  .join('\n')}
</urlset>`;

export async function serveDocsWeb(): Promise<DocsWeb> {
  let week = 1;
  const site = await serveSite({
    respond:
      () =>
      (request, response, { path }) => {
        const name = request.headers.host?.split(':')[0] ?? '';
        const isShop = name === 'shop.example';
        const send = (status: number, type: string, body: string) =>
          response.writeHead(status, { 'content-type': type }).end(body);
        if (isShop && path === '/robots.txt')
          return send(
            200,
            'text/plain',
            'User-agent: *\nDisallow: /cart\nSitemap: http://shop.example/sitemap.xml\n',
          );
        if (isShop && path === '/sitemap.xml') return send(200, 'application/xml', SITEMAP(week));
        const found = (isShop ? shopPages(week) : name === 'museum.example' ? MUSEUM : {})[path];
        if (found?.location !== undefined) return response.writeHead(301, { location: found.location }).end();
        if (found?.html === undefined) return send(404, 'text/html', page('Not found', '').html!);
        return send(200, 'text/html; charset=utf-8', found.html);
      },
  });
  return {
    ...site,
    setWeek(next) {
      week = next;
    },
  };
}

// The sites of README.md's recipes: a shop that changes from one week to the next, and three sites of a small field.
// Promises: one loopback server answers for all of them by the Host header; `setWeek` says which pages the shop has.
import { type Site, serveSite } from '../../src/demo/serve-site.ts';

export interface ShopSite extends Site {
  /** 1, as at first: the shop of the first crawl; 2: that of the second. */
  setWeek(week: 1 | 2): void;
}

type Pages = Readonly<Record<string, string>>;

const page = (title: string, body: string, nav = '') =>
  `<!DOCTYPE html><html lang="en"><head><title>${title}</title></head><body>${nav}<main><h1>${title}</h1>${body}</main></body></html>`;

const NAV =
  '<nav><a href="/">Shop</a> <a href="/products">Products</a> <a href="/news">News</a> ' +
  '<a href="/contact">Contact</a> <a href="/imprint">Imprint</a></nav>';

function shopPages(week: number): Pages {
  const isSecond = week > 1;
  const shop = (title: string, body: string) => page(title, body, NAV);
  const pages: Record<string, string> = {
    '/': shop('The shop', '<p>Things for the table, made by hand.</p>'),
    '/products': shop(
      'Products',
      '<p>Our things: <a href="/products/mug">a mug</a>, <a href="/products/bowl">a bowl</a>, ' +
        '<a href="/products/chair">a chair</a>. Your <a href="/cart">cart</a>.</p>',
    ),
    '/products/mug': shop(
      'Mug',
      `<p>A mug for every morning. Price: ${isSecond ? 14 : 12} euros, ready to ship today.</p>`,
    ),
    '/products/bowl': shop('Bowl', '<p>A bowl for soup. Price: 16 euros, ready to ship today.</p>'),
    '/news': shop(
      'News',
      `<p>What is new. We are <a href="/news/opening">open</a> ` +
        `${isSecond ? '<a href="/news/sale">Summer sale</a>' : '<a href="/news/spring">Spring hours</a>'}</p>`,
    ),
    '/news/opening': shop('We are open', '<p>Come and see our new <a href="/products/chair">chair</a>.</p>'),
    '/contact': shop('Contact', '<p>Write to us, or visit us on the market.</p>'),
    '/imprint': shop('Imprint', '<p>The shop, Market Street 1.</p>'),
  };
  if (isSecond) pages['/news/sale'] = shop('Summer sale', '<p>All mugs for less, this week only.</p>');
  else pages['/news/spring'] = shop('Spring hours', '<p>We open at nine in spring.</p>');
  return pages;
}

const FIELD: Readonly<Record<string, Pages>> = {
  'museum.example': {
    '/': page(
      'The museum',
      '<p><a href="http://painters.example/">Painters</a> <a href="http://friends.example/">Friends</a> ' +
        '<a href="http://ads.example/offer">Offer</a></p>',
    ),
  },
  'painters.example': {
    '/': page(
      'The painters',
      '<p><a href="http://museum.example/">Museum</a> <a href="http://friends.example/list">Friends</a> ' +
        '<a href="http://wiki.example/painting">Painting</a></p>',
    ),
  },
  'friends.example': {
    '/': page('Friends of the museum', '<p><a href="/visits">Our visits</a> <a href="/list">List</a></p>'),
    '/list': page('Who we are', '<p><a href="/">Home</a></p>'),
    '/visits': page('Our visits', '<p><a href="/visits/spring">In spring</a></p>'),
    '/visits/spring': page('In spring', '<p>We saw the painters.</p>'),
  },
};

/** The names that have to lead here: `--resolve NAME=127.0.0.1:PORT`. */
export const SHOP_HOSTS = ['shop.example', ...Object.keys(FIELD), 'ads.example', 'wiki.example'];

export async function serveShop(): Promise<ShopSite> {
  let week = 1;
  const site = await serveSite({
    respond:
      () =>
      (request, response, { path }) => {
        const name = request.headers.host?.split(':')[0] ?? '';
        const send = (status: number, type: string, body: string) =>
          response.writeHead(status, { 'content-type': type }).end(body);
        if (name === 'shop.example' && path === '/robots.txt')
          return send(200, 'text/plain', 'User-agent: *\nDisallow: /cart\n');
        const html = (name === 'shop.example' ? shopPages(week) : FIELD[name])?.[path];
        if (html === undefined) return send(404, 'text/html', page('Not found', '<p>Nothing here.</p>'));
        return send(200, 'text/html; charset=utf-8', html);
      },
  });
  return {
    ...site,
    setWeek(next) {
      week = next;
    },
  };
}

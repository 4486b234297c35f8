/**
 * The site that `sumi demo` crawls: a made-up web on three loopback hosts, with a few of the things that real sites
 * do, so that there is something to ask about afterwards: a robots.txt, a redirect, a dead link, a login page behind
 * nofollow. Everything follows from the seed.
 */
import { respondFromGraph, type ServeOptions, type Site, serveSite } from './serve-site.ts';
import { createSiteGraph } from './site-graph.ts';

const HOSTS = 3;
const PAGES = 180;

export function serveDemoSite(): Promise<Site> {
  const graph = createSiteGraph({ seed: 7, pages: PAGES, hosts: HOSTS, linksPerPage: 20 });
  const respond: ServeOptions['respond'] = (site) => {
    const fromGraph = respondFromGraph(graph)(site);
    return (request, response, entry) => {
      const send = (status: number, headers: Record<string, string>, body: string) =>
        response.writeHead(status, headers).end(body);
      switch (entry.path) {
        case '/robots.txt':
          return send(200, { 'content-type': 'text/plain' }, 'User-agent: *\nDisallow: /private/\n');
        case '/old-home':
          return send(301, { location: '/' }, '');
        case '/site-map':
          return send(200, { 'content-type': 'text/html; charset=utf-8' }, SITE_MAP);
        case '/':
          if (entry.host !== 0) return fromGraph(request, response, entry);
          return send(
            200,
            { 'content-type': 'text/html; charset=utf-8' },
            homePage(graph.render(0, site.origins)),
          );
        default:
          return fromGraph(request, response, entry);
      }
    };
  };
  return serveSite({ hosts: HOSTS, respond, keepLog: false });
}

const SITE_MAP = `<!DOCTYPE html><html lang="en"><title>About this site</title><h1>About this site</h1>
<p>A made-up site for a first look at sumi.</p>
<a href="/old-home">Home, by its old address</a> <a href="/missing">A page that is gone</a>
<a href="/private/diary">Private</a> <a href="/login" rel="nofollow">Log in</a></html>`;

function homePage(html: Buffer): string {
  return html.toString().replace('</body>', '<p><a href="/site-map">About this site</a></p></body>');
}

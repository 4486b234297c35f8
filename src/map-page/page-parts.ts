/**
 * The page's own files, its script as one piece. This file serves the sources, where the bundler is at hand; the build
 * puts the finished parts in its place (scripts/build.mjs), so that the command needs neither sources nor bundler.
 */
export interface PageParts {
  html: string;
  style: string;
  script: string;
}

export async function pageParts(): Promise<PageParts> {
  const bundler = new URL('../../scripts/bundle-map-page.mjs', import.meta.url).href;
  const { bundleMapPage } = (await import(bundler)) as { bundleMapPage(): Promise<PageParts> };
  return await bundleMapPage();
}

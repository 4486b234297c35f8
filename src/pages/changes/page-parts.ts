/**
 * The page's own files, its script as one piece. This file serves the sources, where the bundler is available. The
 * build replaces it by the finished parts (scripts/build.mjs), so that the command needs neither sources nor bundler.
 */
import type { PageParts } from '../self-contained-page.ts';

export async function pageParts(): Promise<PageParts> {
  const bundler = new URL('../../../scripts/bundle-page.mjs', import.meta.url).href;
  const { bundlePage } = (await import(bundler)) as { bundlePage(name: string): Promise<PageParts> };
  return await bundlePage('changes');
}

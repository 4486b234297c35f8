/** Finds a page by any spelling of its URL: each project's own normalization says what its identity is. */
import { withoutCredentials } from '../config/url-credentials.ts';
import { sumiError } from '../errors.ts';
import type { PageRow, ReadSide } from '../store/read-side.ts';
import { createNormalizer, type Normalizer } from '../url/normalize.ts';
import { recordedConfig } from './config-of-run.ts';
import type { Reading } from './reading.ts';

/** As `findPages`; a URL that no project knows is an error. */
export async function requirePages(reading: Reading, url: string): Promise<PageRow[]> {
  const pages = await findPages(reading, url);
  if (pages.length > 0) return pages;
  throw sumiError('unknown-url', { url: withoutCredentials(url), file: reading.storeLabel });
}

/** One row for each project that knows the URL; without `project` all projects are asked. */
export async function findPages(
  { side, project }: Pick<Reading, 'side' | 'project'>,
  text: string,
): Promise<PageRow[]> {
  // With a scheme before it, its first part would be taken for a host.
  if (/^\s*\/(?!\/)/.test(text)) throw sumiError('url-no-host', { url: text.trim() });
  const found: PageRow[] = [];
  for (const row of await side.projects()) {
    if (project !== undefined && row.project !== project) continue;
    const normalizer = await normalizerOf(side, row.id);
    for (const identity of identitiesOf(text.trim(), normalizer)) {
      const page = await side.page(row.id, identity);
      if (page === null) continue;
      found.push(page);
      break;
    }
  }
  return found;
}

async function normalizerOf(side: ReadSide, projectId: number): Promise<Normalizer> {
  const run = await side.lastRun(projectId);
  if (run === null) return createNormalizer({ preset: 'standard' });
  const { normalize, keepQuery, dropQuery } = await recordedConfig(run);
  return createNormalizer({ preset: normalize, keepQuery, dropQuery });
}

/** People leave the scheme out; then both are tried. */
function identitiesOf(text: string, normalizer: Normalizer): Set<string> {
  const spellings = /^https?:/i.test(text) ? [text] : [`https://${text}`, `http://${text}`];
  const urls = spellings.map((spelling) => normalizer.normalize(spelling)?.url);
  return new Set(urls.filter((url) => url !== undefined));
}

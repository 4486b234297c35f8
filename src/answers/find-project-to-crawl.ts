/**
 * The project that a program means when it gives a URL to crawl, with or without a name: one that is there already, or a new
 * one. The same URL is the same project, so that a second crawl of it compares with the first.
 */
import { sumiError } from '../errors.ts';
import type { SettingChange } from '../running/engine.ts';
import type { ProjectRow } from '../store/read-side.ts';
import type { Answering } from './answering.ts';
import { listProjects } from './list-projects.ts';

export interface ProjectToCrawl {
  /** Checked: readWebsiteUrl. */
  websiteUrl: string;
  name: string | undefined;
  settings: SettingChange;
  /** The projects that the caller may see; null: all, and new ones. */
  projects: readonly string[] | null;
}

export interface FoundProject {
  id: string;
  name: string;
  /** It was made just now, with these settings. */
  isNew: boolean;
}

type Asked = Pick<Answering, 'side' | 'engine'>;

/** Names that are tried: NAME, NAME 2, NAME 3, … */
const MOST_NAMES = 100;
const ROWS_A_CALL = 100;

export async function findProjectToCrawl(asked: Asked, wanted: ProjectToCrawl): Promise<FoundProject> {
  const { websiteUrl, name, projects } = wanted;
  const known = await findKnown(asked, wanted);
  if (known !== null) {
    // Its name, but another site.
    if (known.website_url !== websiteUrl) throw sumiError('project-exists', { project: known.project });
    return { id: known.uid, name: known.project, isNew: false };
  }
  if (projects !== null) throw sumiError('projects-only');
  return await create(asked, wanted, name);
}

async function findKnown(
  { side }: Asked,
  { websiteUrl, name, projects }: ProjectToCrawl,
): Promise<ProjectRow | null> {
  let cursor: string | undefined;
  do {
    const q = name ?? websiteUrl;
    const { items, next_cursor } = await listProjects(
      { side },
      { q, cursor, limit: ROWS_A_CALL, sort: 'created_at', order: 'asc' },
      projects,
    );
    const found = items.find((row) =>
      name === undefined ? row.website_url === websiteUrl : row.project === name,
    );
    if (found !== undefined) return found;
    cursor = next_cursor ?? undefined;
  } while (cursor !== undefined);
  return null;
}

async function create(
  { engine }: Asked,
  { websiteUrl, settings }: ProjectToCrawl,
  wantedName: string | undefined,
): Promise<FoundProject> {
  const first = wantedName ?? nameOf(websiteUrl);
  for (let nth = 1; ; nth++) {
    const name = nth === 1 ? first : `${first} ${nth}`;
    try {
      return { id: await engine.projects.create({ name, websiteUrl, settings }), name, isNew: true };
    } catch (error) {
      const isTaken = (error as { code?: unknown }).code === 'project-exists';
      // A name that was asked for is never another one.
      if (!isTaken || wantedName !== undefined || nth === MOST_NAMES) throw error;
    }
  }
}

/** The host, and the path where there is one. */
function nameOf(websiteUrl: string): string {
  const { host, pathname } = new URL(websiteUrl);
  return `${host}${pathname === '/' ? '' : pathname.replace(/\/$/, '')}`.slice(0, 190);
}

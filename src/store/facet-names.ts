/** What the pages of a project are counted by, each value as the filter of the same name takes it. */
export const FACET_NAMES = [
  'status',
  'state',
  'status_code',
  'host',
  'section',
  'depth',
  'change',
  'reason',
  'noindex',
  'content_type',
] as const;
export type FacetName = (typeof FACET_NAMES)[number];

export interface FacetCount {
  value: string;
  pages: number;
}

export interface Facets {
  /** Most pages first. */
  items: FacetCount[];
  /** Pages that fit the filter, whether they have a value or not. */
  total: number;
  /** False: there are more pages than were looked at, or runs have changed what was kept. */
  isExact: boolean;
  /** The run at whose end they were counted; null: just now. */
  asOfRun: number | null;
}

/** Of the pages in a folder and below it. */
export interface FolderCounts {
  pages: number;
  success: number;
  failed: number;
  skipped: number;
  waiting: number;
  /** URLs that were wanted and gave no page. */
  errors: number;
  changed: number;
  words: number;
  /** Pages that `milliseconds` is the sum of. */
  answered: number;
  milliseconds: number;
}

export interface Folder extends FolderCounts {
  /** As the filter `section` takes it: /docs/api. */
  path: string;
}

export interface FolderTree {
  folder: Folder;
  /** The folders directly in it, most pages first. */
  folders: Folder[];
  isExact: boolean;
  asOfRun: number | null;
}

export const NO_COUNTS: Readonly<FolderCounts> = {
  ...{ pages: 0, success: 0, failed: 0, skipped: 0, waiting: 0 },
  ...{ errors: 0, changed: 0, words: 0, answered: 0, milliseconds: 0 },
};
export const FOLDER_COLUMNS = Object.keys(NO_COUNTS) as (keyof FolderCounts)[];

/** Values and folders of an answer, at most. */
export const MOST_VALUES = 1000;

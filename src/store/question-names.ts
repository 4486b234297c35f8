/** The questions of a read side by how they are answered: one answer, or rows one after the other. */
import type { ReadSide } from './read-side.ts';

/** What can be asked, without what belongs to the side itself. */
export type Questions = Omit<ReadSide, 'close' | 'until'>;
export type QuestionName = keyof Questions;

type StreamName = {
  [Name in QuestionName]: ReturnType<Questions[Name]> extends AsyncIterable<unknown> ? Name : never;
}[QuestionName];

const STREAMS: Record<StreamName, true> = {
  runs: true,
  pages: true,
  links: true,
  linksOf: true,
  linksTo: true,
  graphPages: true,
  graphLinks: true,
  hosts: true,
  changes: true,
  sitemapEntries: true,
  revisitPages: true,
  visitsAfter: true,
  newlyLinked: true,
  linkedFrom: true,
  workers: true,
  requestLog: true,
  columns: true,
  repeatedUrls: true,
};

const ANSWERS: Record<Exclude<QuestionName, StreamName>, true> = {
  projects: true,
  projectByUid: true,
  run: true,
  lastRun: true,
  page: true,
  pageById: true,
  pageText: true,
  countExternal: true,
  hostId: true,
  blockedHosts: true,
  requests: true,
  visits: true,
  readerLook: true,
  ledger: true,
  discoveries: true,
  revisitPlan: true,
  projectSettings: true,
  robots: true,
  totals: true,
  report: true,
  changeFigures: true,
  mapErrors: true,
  list: true,
  count: true,
  facets: true,
  tree: true,
};

export const STREAM_NAMES = Object.keys(STREAMS) as StreamName[];
export const ANSWER_NAMES = Object.keys(ANSWERS) as Exclude<QuestionName, StreamName>[];

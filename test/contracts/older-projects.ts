/** Projects as versions before named them, by hosts without ports, and their names now: the same on every store. */
export interface OlderProject {
  /** `start-urls` and `project` as kept with its runs, the last one at the end. */
  runs: { urls: string[]; given?: string }[];
  before: string;
  after: string;
}

export const OLDER_PROJECTS: readonly OlderProject[] = [
  { runs: [{ urls: ['http://127.0.0.1:21001/'] }], before: '127.0.0.1', after: '127.0.0.1:21001' },
  { runs: [{ urls: ['https://a.test/x:1'] }], before: 'a.test', after: 'a.test' },
  {
    runs: [{ urls: ['http://b.test:8080/', 'c.test/x', 'http://b.test:9090/', 'http://b.test:8080/y'] }],
    before: 'b.test c.test',
    after: 'b.test:8080 b.test:9090 c.test',
  },
  // The last run says where the project begins.
  {
    runs: [{ urls: ['http://d.test:1/'] }, { urls: ['http://d.test:2/', 'd.test:2/z'] }],
    before: 'd.test',
    after: 'd.test:2',
  },
  { runs: [{ urls: ['http://[::1]:8080/'] }], before: '[::1]', after: '[::1]:8080' },
  // Resume and watch wrote the name that they had found.
  {
    runs: [{ urls: ['http://i.test:8080/'] }, { urls: ['http://i.test:8080/'], given: 'i.test' }],
    before: 'i.test',
    after: 'i.test:8080',
  },
  // A name that somebody gave stays, also one that looks like a host's.
  { runs: [{ urls: ['http://e.test:8080/'], given: 'e.test' }], before: 'e.test', after: 'e.test' },
  { runs: [{ urls: ['http://f.test:8080/'] }], before: 'my shop', after: 'my shop' },
  // Another project has the name already.
  { runs: [{ urls: ['http://g.test:8080/'] }], before: 'g.test', after: 'g.test' },
  {
    runs: [{ urls: ['http://g.test:8080/'], given: 'g.test:8080' }],
    before: 'g.test:8080',
    after: 'g.test:8080',
  },
  { runs: [], before: 'h.test', after: 'h.test' },
];

/** As SQL that both databases take. */
export function olderProjectsSql(): string {
  return OLDER_PROJECTS.flatMap(({ runs, before }, i) => [
    `INSERT INTO project (id, name, created_at) VALUES (${i + 1}, '${before}', 0)`,
    ...runs.map(({ urls, given = null }) => {
      const config = JSON.stringify({ project: given, 'start-urls': urls });
      return `INSERT INTO run (project_id, started_at, status, config_hash, config)
        VALUES (${i + 1}, 0, 'completed', '', '${config}')`;
    }),
  ]).join(';\n');
}

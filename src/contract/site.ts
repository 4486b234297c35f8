/** What is read of a project as a whole: hosts, links as a graph, figures, the audit of its requests, and why of a URL. */
import { z } from 'zod';
import type { ViolationKind } from '../politeness/audit.ts';
import { listSchema } from './lists.ts';
import { PageVisit } from './pages.ts';
import { PAGE_STATE_NAMES } from './words.ts';

export const UrlCountsSchema = z
  .strictObject({
    known_urls: z.int(),
    read: z.int(),
    broken: z.int(),
    rate_limited: z.int(),
    skipped: z.int(),
    waiting: z.int(),
  })
  .meta({
    id: 'UrlCounts',
    description: 'Known URLs by what became of them; the words add up to known_urls.',
  });

export const HostSchema = z
  .strictObject({
    host: z.string(),
    requests: z.int().describe('Requests of the project to this host.'),
    average_ms: z.number().describe('Moving average of its response times.'),
    adaptive_delay_ms: z.number().describe('The delay that its answers taught; 0: none.'),
    next_slot_at: z.string().nullable().describe('Not before then the next request.'),
    blocked_until: z.string().nullable().describe('No request before then, by an answer of the host.'),
    consecutive_429: z.int(),
    failures: z.int().describe('Failures in a row without an answer.'),
    robots_status: z.int().nullable().describe('HTTP status of robots.txt; 0: no answer; null: not asked.'),
    robots_fetched_at: z.string().nullable(),
    urls: UrlCountsSchema.nullable().describe('null where more than 20,000 would have to be counted.'),
  })
  .meta({ id: 'Host', description: 'A host name with its pace, its blocks and its robots.txt.' });
export type Host = z.infer<typeof HostSchema>;
export const HostList = listSchema(HostSchema).meta({ id: 'HostList' });

export const GRAPH_SUBJECTS = ['sections', 'domains', 'pages'] as const;
export const MOST_NODES = 2000;
export const NODES_UNLESS_SAID = 300;
export const MOST_EDGES = 20_000;

export const GraphNode = z
  .strictObject({
    id: z.int().describe('Its place in `nodes`.'),
    name: z.string(),
    kind: z
      .enum(['start', 'read', 'other', 'broken'])
      .describe('start: where the crawl began. other: outside, or not visited.'),
    pages: z.int().describe('Known pages of any state.'),
    read: z.int(),
    errors: z.int(),
    depth: z.int().nullable().describe('The least of its pages.'),
    pagerank: z.number(),
    references: z.int().describe('Links that lead to its pages.'),
    in_degree: z.int(),
    out_degree: z.int(),
  })
  .meta({ id: 'GraphNode' });

export const GraphEdge = z
  .strictObject({
    source: z.int(),
    target: z.int(),
    count: z.int().describe('Links between pages of the two.'),
  })
  .meta({ id: 'GraphEdge' });

export const GraphSchema = z
  .strictObject({
    of: z.enum(GRAPH_SUBJECTS),
    nodes: z.array(GraphNode),
    edges: z.array(GraphEdge),
    total_nodes: z.int().describe('How many there are, shown or not.'),
    is_whole: z.boolean().describe('false: the less important nodes, or the lightest edges, are left out.'),
  })
  .meta({ id: 'Graph', description: 'The links of a project as a graph of its sections, domains or pages.' });
export type Graph = z.infer<typeof GraphSchema>;

const countsBy = (about: string) => z.record(z.string(), z.int()).describe(about);

export const StatisticsSchema = z
  .strictObject({
    project_id: z.string(),
    urls: UrlCountsSchema,
    hosts: z.int(),
    links: z.int(),
    requests: z.int(),
    bytes: z.number(),
    runs: z.int(),
    by_state: countsBy('Pages by state.'),
    by_status: countsBy('Pages by HTTP status.'),
    by_content_type: countsBy('Pages by media type.'),
    by_reason: countsBy('Pages by reason.'),
    by_depth: countsBy('Pages by depth.'),
    last_run: z
      .strictObject({
        run: z.int(),
        duration_ms: z.number(),
        requests_by_kind: countsBy('robots, GET, HEAD, sitemap.'),
        status_codes: countsBy('Answers to requests for pages; 0: none.'),
        hosts_visited: z.int(),
        retries: z.int(),
        errors: z.int(),
        robots_denials: z.int(),
        bodies_stored: z.int(),
        top_errors: z.array(z.strictObject({ reason: z.string(), pages: z.int(), example: z.string() })),
        deepest_pages: z.array(z.strictObject({ url: z.string(), depth: z.int(), state: z.string() })),
        domains: z
          .array(
            z.strictObject({
              host: z.string(),
              requests: z.int(),
              page_requests: z.int(),
              failed_requests: z.int(),
              bytes: z.number(),
              delay_seconds: z.number().describe('The greatest delay between two requests.'),
              robots_delay_seconds: z.number().nullable(),
              robots_status: z.int().nullable(),
            }),
          )
          .describe('Most requests first; 1,000 at most.'),
      })
      .nullable(),
  })
  .meta({ id: 'Statistics', description: 'What a project amounts to, and the figures of its last run.' });
export type Statistics = z.infer<typeof StatisticsSchema>;

const VIOLATIONS: Record<ViolationKind, true> = {
  ...{ early: true, 'too-close': true, 'too-many': true, blocked: true, 'below-floor': true },
  'after-restart': true,
};
const VIOLATION_KINDS = [...Object.keys(VIOLATIONS), 'repeated-url'] as unknown as [string, ...string[]];

export const AuditSchema = z
  .strictObject({
    project_id: z.string(),
    run: z.int().nullable().describe('null: all runs of the project.'),
    requests: z.int(),
    hosts: z.int(),
    violations: z
      .int()
      .describe('Requests that broke a rule of politeness, and pages that are stored twice.'),
    restarts: z.int().describe('Restarts after a crash, one a host.'),
    cleared_until: z.string().nullable().describe('The log before then was cleared, and is not judged.'),
    by_kind: z.record(z.string(), z.int()),
    rows: z
      .array(
        z.strictObject({
          kind: z.enum(VIOLATION_KINDS),
          run: z.int().nullable(),
          host: z.string().nullable(),
          request: z.int().nullable(),
          sent_at: z.string().nullable(),
          url: z.string().nullable(),
          detail: z.string(),
        }),
      )
      .describe('The first 100 of each.'),
  })
  .meta({
    id: 'Audit',
    description: 'Whether every request kept the rules of politeness, by the log of requests.',
  });
export type AuditAnswer = z.infer<typeof AuditSchema>;

export const WhySchema = z
  .strictObject({
    page_id: z.string(),
    project_id: z.string(),
    url: z.string(),
    fetch_url: z.string(),
    state: z.enum(PAGE_STATE_NAMES),
    reason: z.string().nullable().describe('The rule or the answer that decided.'),
    depth: z.int().nullable(),
    discovered_run: z.int(),
    discovered_at: z.string(),
    path: z.array(z.string()).describe('From the start page to the page that led here first.'),
    redirects: z.array(z.string()).describe('Where it redirects, hop by hop.'),
    final_url: z.string().nullable(),
    status_code: z.int().nullable(),
    title: z.string().nullable(),
    visited_at: z.string().nullable(),
    attempts: z.int(),
    retry_at: z.string().nullable(),
    robots: z.strictObject({
      decision: z.enum(['allowed', 'denied', 'unknown']),
      rule: z.string().nullable().describe('The line of robots.txt that decided.'),
      status: z.int().nullable(),
    }),
    left_out: z
      .strictObject({ run: z.int(), reason: z.string(), known_from_run: z.int().nullable() })
      .nullable()
      .describe('The last run that left it out, and why.'),
    requests: z
      .array(
        z.strictObject({
          run: z.int(),
          kind: z.string(),
          sent_at: z.string(),
          status_code: z.int(),
          duration_ms: z.number(),
          bytes: z.number(),
          failure: z.string().nullable(),
        }),
      )
      .describe('The last 20.'),
    requests_total: z.int(),
    visits: z.array(PageVisit.omit({ parts: true })).describe('The last 20, newest last.'),
    visits_total: z.int(),
    change_frequency: z.number(),
    changes_detected: z.int(),
    next_visit: z
      .strictObject({
        rule: z.string(),
        at: z.string().nullable().describe('In the past: it is due. null: no more visits.'),
        interval_days: z.number().nullable(),
        rate_per_day: z.number(),
        chance_changed: z.number().nullable(),
        is_watched: z.boolean().describe('Whether anything visits it again by itself.'),
      })
      .nullable()
      .describe('null for a page that is not visited again by itself.'),
  })
  .meta({ id: 'Why', description: 'What became of a URL, and which rule decided.' });
export type Why = z.infer<typeof WhySchema>;

/**
 * The specifications' tables as views, under the names and columns they gave them, so that a query written for any
 * of them works with every SQLite tool. docs/tables.md explains them; nothing in the crawler reads through them.
 */
import { KNOWN_BY, VISIT_OUTCOMES } from '../../change/visit-record.ts';
import { PAGE_STATES } from '../../frontier/page-state.ts';
import { partsSql } from '../change-parts.ts';
import { pageViews, STATE_NAME } from '../page-views.ts';
import { NO_DEPTH, UNFOLLOWED } from '../settlement.ts';
import { wordSql } from '../visit-rows.ts';

const code = PAGE_STATES;
const WAITING = `(${code.Discovered}, ${code.Queued}, ${code.Fetching})`;

const iso = (column: string) =>
  `CASE WHEN ${column} IS NULL THEN NULL ELSE strftime('%Y-%m-%dT%H:%M:%fZ', ${column} / 1000.0, 'unixepoch') END`;
const hash = (column: string) => `lower(hex(${column}))`;
const orNull = (text: string) => `NULLIF(${text}, '')`;

const columns = pageViews({
  time: iso,
  hash: (column) => orNull(hash(column)),
  linksFound: `COALESCE((SELECT json_group_array(COALESCE(x.fetch_url, x.url)) FROM link_set l, json_each(l.targets) j
      JOIN url x ON x.id = j.value WHERE l.page_id = u.id), '[]')`,
});

/** A host may have answered by several origins (www., a port); a domain is one row, with what was asked last (the row of the max). */
const ROBOTS = `(SELECT host_id, status, body, delay_seconds, max(fetched_at) AS fetched_at FROM robots_txt GROUP BY host_id) r
    ON r.host_id = h.id`;

/** Redirects besides the links: one whose page still links there counts once. */
const LED_ON = `redirect_to IS NOT NULL AND NOT EXISTS
      (SELECT 1 FROM link_set l, json_each(l.targets) j WHERE l.page_id = f.page_id AND j.value = f.redirect_to)`;
/** As in `referrers`, without what counting does not need. CAST, because values of JSON have no type that an index could have. */
const TARGETS = `SELECT CAST(j.value AS INTEGER) AS to_page_id FROM link_set l, json_each(l.targets) j
      UNION ALL SELECT redirect_to FROM fetched f WHERE ${LED_ON}`;

/** Referenced but never visited URLs (blacklist, stub): the same two shapes twice. */
function referenced(kind: 'blacklisted' | 'stubbed', state: number): string {
  return `
CREATE VIEW ${kind}_urls AS
  SELECT u.id, u.url, h.name AS domain, COALESCE(r.count, 0) AS reference_count, u.discovered_run AS first_seen_run
  FROM url u JOIN host h ON h.id = u.host_id
    LEFT JOIN (SELECT to_page_id, count(*) AS count FROM (${TARGETS}) GROUP BY to_page_id) r ON r.to_page_id = u.id
  WHERE u.state = ${state};
CREATE VIEW ${kind}_referrers AS
  SELECT l.id, l.to_page_id AS ${kind}_url_id,
    l.from_page_id AS referrer_page_id, l.discovered_run
  FROM referrers l JOIN url u ON u.id = l.to_page_id WHERE u.state = ${state};`;
}

export const VIEWS = `
CREATE VIEW runs AS
  SELECT r.id, p.name AS project, ${iso('r.started_at')} AS started_at, ${iso('r.finished_at')} AS finished_at,
    r.config_hash, r.status, r.pages, r.bytes, r.requests, r.left_out, r.error, r.metadata, r.mode, r.mode_reason,
    ${VISIT_OUTCOMES.map((word, at) => `(SELECT count(*) FROM visit v WHERE v.run_id = r.id AND v.outcome = ${at}) AS "${word}"`).join(',\n    ')},
    (SELECT COALESCE(sum(v.bytes_saved), 0) FROM visit v WHERE v.run_id = r.id) AS bytes_saved
  FROM run r JOIN project p ON p.id = r.project_id;

CREATE VIEW pages AS
  SELECT ${columns.pages}
  FROM url u JOIN host h ON h.id = u.host_id LEFT JOIN fetched f ON f.page_id = u.id;

CREATE VIEW page_depths AS
  SELECT d.page_id * 1000000 + d.origin AS id, d.page_id, o.name AS quality_origin, d.depth
  FROM page_depth d JOIN url u ON u.id = d.page_id
    JOIN origin o ON o.project_id = u.project_id AND o.number = d.origin
  UNION ALL
  SELECT u.id * 1000000, u.id, p.name, u.depth
  FROM url u JOIN project p ON p.id = u.project_id
  WHERE u.depth < ${NO_DEPTH} AND NOT EXISTS (SELECT 1 FROM origin o WHERE o.project_id = u.project_id);

CREATE VIEW links AS
  SELECT l.page_id * 1000000 + j.key AS id, l.page_id AS from_page_id, j.value AS to_page_id,
    COALESCE((SELECT max(c.run_id) FROM link_change c, json_each(c.added) a
      WHERE c.page_id = l.page_id AND a.value = j.value), l.run_id) AS discovered_run,
    COALESCE(json_extract(l.flags, '$[' || j.key || ']'), 0) & ~${UNFOLLOWED} AS flags,
    COALESCE(json_extract(l.flags, '$[' || j.key || ']'), 0) & 1 AS nofollow,
    json_extract(l.anchors, '$[' || j.key || ']') AS anchor
  FROM link_set l, json_each(l.targets) j;

-- Who leads to a page: by a link, or by a redirect that ended there.
CREATE VIEW referrers AS
  SELECT from_page_id * 1000000 + to_page_id AS id, from_page_id, to_page_id, discovered_run FROM links
  UNION ALL SELECT f.page_id * 1000000 + f.redirect_to, f.page_id, f.redirect_to, f.run_id FROM fetched f WHERE ${LED_ON};
${referenced('blacklisted', code.Blacklisted)}
${referenced('stubbed', code.Stubbed)}

CREATE VIEW frontier AS
  SELECT u.id, u.id AS page_id, u.priority, ${iso('u.discovered_at')} AS added_at, u.url, u.project_id,
    ${iso('u.retry_at')} AS not_before
  FROM url u WHERE u.state IN (${code.Queued}, ${code.Fetching});

CREATE VIEW queue AS
  SELECT u.id, u.id AS url_id, u.url, h.name AS domain, u.priority, ${STATE_NAME} AS status, u.attempts,
    ${iso('u.discovered_at')} AS queued_at, ${iso('u.retry_at')} AS not_before
  FROM url u JOIN host h ON h.id = u.host_id WHERE u.state IN (${code.Queued}, ${code.Fetching});

CREATE VIEW urls AS
  SELECT ${columns.urls}
  FROM url u JOIN host h ON h.id = u.host_id LEFT JOIN fetched f ON f.page_id = u.id;

CREATE VIEW domains AS
  SELECT h.id, h.name AS domain, CAST(r.body AS TEXT) AS robots_txt, r.status AS robots_status,
    ${iso('r.fetched_at')} AS robots_fetched_at, max(h.adaptive_ms / 1000.0, COALESCE(r.delay_seconds, 0)) AS crawl_delay,
    ${iso('NULLIF(h.blocked_until, 0)')} AS blocked_until, h.consecutive_429, h.average_ms, h.failures
  FROM host h LEFT JOIN ${ROBOTS};

CREATE VIEW domain_states AS
  SELECT h.id, h.name AS domain, COALESCE((SELECT sum(q.requests) FROM host_queue q WHERE q.host_id = h.id), 0) AS request_count,
    EXISTS (SELECT 1 FROM host_queue q WHERE q.host_id = h.id AND q.closed_state = ${code.RateLimited}) AS rate_limited,
    CAST(r.body AS TEXT) AS robots_txt, ${iso('r.fetched_at')} AS robots_fetched_at
  FROM host h LEFT JOIN ${ROBOTS};

-- The log of requests knows why there was no answer; the history says only that there was none.
CREATE VIEW visits AS
  SELECT (v.page_id * 1000000 + v.run_id) * 10 + v.known_by AS id, v.page_id, v.run_id,
    ${iso('v.visited_at')} AS visited_at, ${wordSql('v.outcome', VISIT_OUTCOMES)} AS outcome,
    ${wordSql('v.known_by', KNOWN_BY)} AS known_by, v.status_code, v.etag, v.last_modified,
    ${orNull(hash('v.content_hash'))} AS content_hash, ${orNull(hash('v.text_hash'))} AS text_hash, v.simhash_distance,
    v.wire_bytes, v.bytes_saved, CAST(round(v.duration_ms) AS INTEGER) AS duration_ms, q.failure
  FROM visit v LEFT JOIN (SELECT run_id, page_id, max(failure) AS failure FROM request
      WHERE page_id IS NOT NULL AND failure IS NOT NULL GROUP BY run_id, page_id) q
    ON v.known_by = ${KNOWN_BY.indexOf('network')} AND q.run_id = v.run_id AND q.page_id = v.page_id;

CREATE VIEW page_changes AS
  SELECT c.page_id * 1000000 + c.run_id AS id, c.page_id, c.run_id, u.url, ${iso('c.visited_at')} AS visited_at,
    ${partsSql('c.parts')} AS parts, c.detail
  FROM page_change c JOIN url u ON u.id = c.page_id;

CREATE VIEW sitemap_entries AS
  SELECT e.page_id AS id, e.page_id, u.url, ${iso('e.lastmod')} AS lastmod, e.changefreq, e.priority, e.sitemap,
    ${iso('e.first_seen')} AS first_seen, ${iso('e.last_seen')} AS last_seen, u.project_id,
    e.lastmod_text, e.details
  FROM sitemap_entry e JOIN url u ON u.id = e.page_id;

CREATE VIEW discovery_status AS
  SELECT d.host_id AS id, d.project_id, h.name AS host, d.method, ${iso('d.checked_at')} AS checked_at, d.entries, d.sitemaps,
    d.trouble
  FROM discovery d JOIN host h ON h.id = d.host_id;

CREATE VIEW crawled_pages AS
  SELECT ${columns.crawled_pages}
  FROM url u LEFT JOIN fetched f ON f.page_id = u.id LEFT JOIN page_text t ON t.page_id = u.id
  WHERE u.state NOT IN ${WAITING};

CREATE VIEW crawled_url AS
  SELECT ${columns.crawled_url}
  FROM url u JOIN fetched f ON f.page_id = u.id;
`;

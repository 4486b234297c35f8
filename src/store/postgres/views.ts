/**
 * The specifications' tables as views on PostgreSQL: the names, columns and values of sqlite/views.ts, so that a query
 * written for one store works on the other. Times are text, since they are in SQLite. docs/tables.md explains them;
 * nothing in the crawler reads through them.
 */
import { KNOWN_BY, VISIT_OUTCOMES } from '../../change/visit-record.ts';
import { PAGE_STATES } from '../../frontier/page-state.ts';
import { partsSql } from '../change-parts.ts';
import { pageViews, STATE_NAME } from '../page-views.ts';
import { NO_DEPTH, UNFOLLOWED } from '../settlement.ts';
import { wordSql } from '../visit-rows.ts';

const code = PAGE_STATES;
const WAITING = `(${code.Discovered}, ${code.Queued}, ${code.Fetching})`;

/** Wall milliseconds as ISO 8601 in UTC; rounded first, because to_char cuts off. */
export const iso = (column: string) =>
  `to_char(timestamp 'epoch' + round(${column}) * interval '1 millisecond', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
/** Lower-case hex; no bytes are no hash. */
export const hex = (column: string) => `NULLIF(encode(${column}, 'hex'), '')`;

const columns = pageViews({
  time: iso,
  hash: hex,
  linksFound: `COALESCE((SELECT '[' || string_agg(to_json(COALESCE(x.fetch_url, x.url))::text, ',' ORDER BY j.n) || ']'
      FROM link_set l, unnest(l.targets) WITH ORDINALITY AS j(target, n) JOIN url x ON x.id = j.target
      WHERE l.page_id = u.id AND l.host_id = u.host_id), '[]')`,
});

// Every join names the host besides the id, so that each side is one lookup in one partition.
const FETCHED = 'fetched f ON f.page_id = u.id AND f.host_id = u.host_id';

/** A host may have answered by several origins (www., a port); a domain is one row, with what was asked last. */
const ROBOTS = `(SELECT DISTINCT ON (host_id) * FROM robots_txt ORDER BY host_id, fetched_at DESC) r ON r.host_id = h.id`;

/** Referenced but never visited URLs (blacklist, stub): the same two shapes twice. */
function referenced(kind: 'blacklisted' | 'stubbed', state: number): string {
  return `
CREATE VIEW ${kind}_urls AS
  SELECT u.id, u.url, h.name AS domain, COALESCE(r.count, 0) AS reference_count, u.discovered_run AS first_seen_run
  FROM url u JOIN host h ON h.id = u.host_id
    LEFT JOIN (SELECT to_page_id, count(*) AS count FROM referrers GROUP BY to_page_id) r ON r.to_page_id = u.id
  WHERE u.state = ${state};
CREATE VIEW ${kind}_referrers AS
  SELECT l.id, l.to_page_id AS ${kind}_url_id,
    l.from_page_id AS referrer_page_id, l.discovered_run
  FROM referrers l JOIN url u ON u.id = l.to_page_id WHERE u.state = ${state};`;
}

export const VIEWS = `
-- A robots.txt may hold any bytes, a text only what is UTF-8: the rest is shown escaped.
CREATE OR REPLACE FUNCTION readable_text(bytes bytea) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT AS $$
BEGIN
  RETURN convert_from(bytes, 'UTF8');
EXCEPTION WHEN character_not_in_repertoire OR untranslatable_character THEN
  RETURN encode(bytes, 'escape');
END $$;

CREATE VIEW runs AS
  SELECT r.id, p.name AS project, ${iso('r.started_at')} AS started_at, ${iso('r.finished_at')} AS finished_at,
    r.config_hash, r.status, r.pages, r.bytes, r.requests, r.left_out, r.error, r.metadata, r.mode, r.mode_reason,
    ${VISIT_OUTCOMES.map((word) => `o."${word}"`).join(', ')}, o.bytes_saved
  FROM run r JOIN project p ON p.id = r.project_id CROSS JOIN LATERAL (
    SELECT ${VISIT_OUTCOMES.map((word, at) => `count(*) FILTER (WHERE v.outcome = ${at}) AS "${word}"`).join(', ')},
      COALESCE(sum(v.bytes_saved), 0)::bigint AS bytes_saved
    FROM visit v WHERE v.run_id = r.id) o;

CREATE VIEW pages AS
  SELECT ${columns.pages}
  FROM url u JOIN host h ON h.id = u.host_id LEFT JOIN ${FETCHED};

CREATE VIEW page_depths AS
  SELECT d.page_id::bigint * 1000000 + d.origin AS id, d.page_id, o.name AS quality_origin, d.depth
  FROM page_depth d JOIN url u ON u.id = d.page_id AND u.host_id = d.host_id
    JOIN origin o ON o.project_id = u.project_id AND o.number = d.origin
  UNION ALL
  SELECT u.id::bigint * 1000000, u.id, p.name, u.depth
  FROM url u JOIN project p ON p.id = u.project_id
  WHERE u.depth < ${NO_DEPTH} AND NOT EXISTS (SELECT 1 FROM origin o WHERE o.project_id = u.project_id);

CREATE VIEW links AS
  SELECT l.page_id::bigint * 1000000 + j.n - 1 AS id, l.page_id AS from_page_id, j.target AS to_page_id,
    COALESCE((SELECT max(c.run_id) FROM link_change c
      WHERE c.page_id = l.page_id AND c.host_id = l.host_id AND j.target = ANY (c.added)), l.run_id) AS discovered_run,
    COALESCE(j.flag, 0) & ~${UNFOLLOWED} AS flags, COALESCE(j.flag, 0) & 1 AS nofollow, j.anchor
  FROM link_set l, unnest(l.targets, l.flags, l.anchors) WITH ORDINALITY AS j(target, flag, anchor, n);

-- Who leads to a page: by a link, or by a redirect that ended there.
CREATE VIEW referrers AS
  SELECT from_page_id::bigint * 1000000 + to_page_id AS id, from_page_id, to_page_id, discovered_run FROM links
  UNION ALL SELECT f.page_id::bigint * 1000000 + f.redirect_to, f.page_id, f.redirect_to, f.run_id FROM fetched f WHERE f.redirect_to IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM link_set l
      WHERE l.page_id = f.page_id AND l.host_id = f.host_id AND f.redirect_to = ANY (l.targets));
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
  FROM url u JOIN host h ON h.id = u.host_id LEFT JOIN ${FETCHED};

CREATE VIEW domains AS
  SELECT h.id, h.name AS domain, readable_text(r.body) AS robots_txt, r.status AS robots_status,
    ${iso('r.fetched_at')} AS robots_fetched_at,
    greatest(h.adaptive_ms / 1000, COALESCE(r.delay_seconds, 0)) AS crawl_delay,
    ${iso('NULLIF(h.blocked_until, 0)')} AS blocked_until, h.consecutive_429, h.average_ms, h.failures
  FROM host h LEFT JOIN ${ROBOTS};

CREATE VIEW domain_states AS
  SELECT h.id, h.name AS domain, COALESCE((SELECT sum(q.requests) FROM host_queue q WHERE q.host_id = h.id), 0) AS request_count,
    EXISTS (SELECT 1 FROM host_queue q WHERE q.host_id = h.id AND q.closed_state = ${code.RateLimited})::int AS rate_limited,
    readable_text(r.body) AS robots_txt, ${iso('r.fetched_at')} AS robots_fetched_at
  FROM host h LEFT JOIN ${ROBOTS};

-- The log of requests knows why there was no answer; the history says only that there was none.
CREATE VIEW visits AS
  SELECT (v.page_id::bigint * 1000000 + v.run_id) * 10 + v.known_by AS id, v.page_id, v.run_id,
    ${iso('v.visited_at')} AS visited_at, ${wordSql('v.outcome', VISIT_OUTCOMES)} AS outcome,
    ${wordSql('v.known_by', KNOWN_BY)} AS known_by, v.status_code, v.etag, v.last_modified,
    ${hex('v.content_hash')} AS content_hash, ${hex('v.text_hash')} AS text_hash, v.simhash_distance,
    v.wire_bytes, v.bytes_saved, floor(v.duration_ms + 0.5)::integer AS duration_ms, q.failure
  FROM visit v LEFT JOIN LATERAL (SELECT max(r.failure) AS failure FROM request r
      WHERE v.known_by = ${KNOWN_BY.indexOf('network')} AND r.page_id = v.page_id AND r.host_id = v.host_id
        AND r.run_id = v.run_id) q ON true;

CREATE VIEW page_changes AS
  SELECT c.page_id::bigint * 1000000 + c.run_id AS id, c.page_id, c.run_id, u.url, ${iso('c.visited_at')} AS visited_at,
    ${partsSql('c.parts')} AS parts, c.detail
  FROM page_change c JOIN url u ON u.id = c.page_id AND u.host_id = c.host_id;

CREATE VIEW sitemap_entries AS
  SELECT e.page_id AS id, e.page_id, u.url, ${iso('e.lastmod')} AS lastmod, e.changefreq, e.priority, e.sitemap,
    ${iso('e.first_seen')} AS first_seen, ${iso('e.last_seen')} AS last_seen, u.project_id,
    e.lastmod_text, e.details
  FROM sitemap_entry e JOIN url u ON u.id = e.page_id AND u.host_id = e.host_id;

CREATE VIEW discovery_status AS
  SELECT d.host_id AS id, d.project_id, h.name AS host, d.method, ${iso('d.checked_at')} AS checked_at, d.entries, d.sitemaps,
    d.trouble
  FROM discovery d JOIN host h ON h.id = d.host_id;

CREATE VIEW crawled_pages AS
  SELECT ${columns.crawled_pages}
  FROM url u LEFT JOIN ${FETCHED} LEFT JOIN page_text t ON t.page_id = u.id AND t.host_id = u.host_id
  WHERE u.state NOT IN ${WAITING};

CREATE VIEW crawled_url AS
  SELECT ${columns.crawled_url}
  FROM url u JOIN ${FETCHED};
`;

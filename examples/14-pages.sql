-- The pages of a list of sites, in a table that is kept fresh: sumi sql web.duckdb -f examples/14-pages.sql
-- Make the list first: sumi sql web.duckdb -c "CREATE TABLE sites AS SELECT 'https://example.com/' AS url"
CRAWL (SELECT url FROM sites) INTO pages
  EXTRACT (css 'h1' AS heading, meta.description AS description)
  WHERE url NOT LIKE '%?%'
  WITH (follow_links true, max_crawl_depth 2, update_stale true)
  LIMIT 4;
-- What went wrong?
SELECT error_type, count(*) AS urls FROM pages WHERE error_type IS NOT NULL GROUP BY ALL ORDER BY ALL;
-- The URLs that were asked for, beside what became of them.
SELECT sites.url, pages.state, pages.heading FROM sites LEFT JOIN pages ON pages.input_url = sites.url;
-- A copy for other programs.
COPY (SELECT * EXCLUDE (body) FROM pages) TO 'pages.parquet';

-- Questions to a crawl, for any SQLite tool: sqlite3 sumi.db < examples/07-questions.sql
-- How did the run go?
SELECT project, status, pages, bytes FROM runs ORDER BY id DESC LIMIT 1;
-- Which pages are broken, and who links to them?
SELECT broken.status_code, broken.url, source.url AS linked_from
FROM pages AS broken
JOIN links ON links.to_page_id = broken.id
JOIN pages AS source ON source.id = links.from_page_id
WHERE broken.state IN ('DeadLink', 'Gone', 'Failed', 'Unreachable');
-- Why was something not fetched?
SELECT reason, count(*) AS urls FROM pages WHERE state = 'Skipped' GROUP BY reason ORDER BY urls DESC;
-- Which pages say the same?
SELECT content_hash, count(*) AS copies, min(url) AS one_of_them
FROM pages WHERE content_hash IS NOT NULL GROUP BY content_hash HAVING copies > 1;

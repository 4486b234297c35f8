// The database is an ordinary SQLite file; docs/tables.md lists its views. Programs may read it during a crawl.
// Run it: npx tsx examples/07-ask-with-sql.ts sumi.db
// More questions, with the sqlite3 program: sqlite3 sumi.db < examples/07-questions.sql
import Database from 'better-sqlite3';

const db = new Database(process.argv[2] ?? 'sumi.db', { readonly: true });

const states = db.prepare('SELECT state, count(*) AS pages FROM pages GROUP BY state ORDER BY pages DESC');
for (const { state, pages } of states.all() as { state: string; pages: number }[]) {
  console.log(`${state}: ${pages}`);
}

// The links of a page are packed in one row; the view `links` unpacks them to one row per link.
const mostLinked = db.prepare(`
  SELECT p.url, count(*) AS links
  FROM links l JOIN pages p ON p.id = l.to_page_id
  GROUP BY p.id ORDER BY links DESC, p.id LIMIT 3`);
for (const { url, links } of mostLinked.all() as { url: string; links: number }[]) {
  console.log(`${links} links to ${url}`);
}
db.close();

// A session of `sumi sql` in a program: a CRAWL into a table, its result as JSON, and a question to the table.
// Run it: npx tsx examples/13-sql.ts https://example.com/
import { openSql } from 'sumi-ripple';

const start = process.argv[2] ?? 'https://example.com/';
const sql = await openSql({ file: 'web.duckdb' });

/** Results come as text, in the format of your choice: here one JSON object a line. */
async function rows(script: string, parameters: readonly string[] = []): Promise<Record<string, unknown>[]> {
  let text = '';
  const write = (piece: string) => {
    text += piece;
  };
  await sql.run(script, { format: 'jsonl', output: { write }, parameters });
  return text
    .split('\n')
    .flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Record<string, unknown>]));
}

// Parameters belong to the query of a CRAWL. If the program is stopped, the same statement goes on.
const crawl = 'CRAWL (SELECT $1) INTO pages WITH (follow_links true, threads 1) LIMIT 4';
const [{ Count, failed }] = await rows(crawl, [start]);
console.log(`${Count} rows written, ${failed} of them with an error`);

for (const { title, depth } of await rows('SELECT title, depth FROM pages ORDER BY depth, url'))
  console.log(`depth ${depth}: ${title}`);
await sql.close();

// Appends batches of 100 rows to the table `pages` of FILE for ever and prints the number of rows after each; each row
// has the number of its batch as its depth. Ends by being killed, or with what made a batch fail.

import { SumiError } from '../../src/errors.ts';
import { openTarget } from '../../src/sql/table/check-target.ts';
import { openDatabase } from '../../src/sql/table/open-database.ts';
import { createRowWriter } from '../../src/sql/table/row-writer.ts';
import { crawlRow } from './crawl-row.ts';

const BATCH = 100;

const [file] = process.argv.slice(2);
const database = await openDatabase({ file, isReadOnly: false });
const connection = await database.connect();
const target = { catalog: null, schema: null, table: 'pages' };
const plan = await openTarget(connection, { target, extracted: [] });
const writer = await createRowWriter(connection, plan);
for (let batch = 0; ; batch++) {
  const rows = Array.from({ length: BATCH }, (_, index) =>
    crawlRow(`https://example.com/${batch}/${index}`, {
      depth: batch,
      body: Buffer.from(`<p>${Math.sqrt(batch * BATCH + index)}</p>`.repeat(100)),
    }),
  );
  try {
    writer.append(rows);
  } catch (error) {
    console.log(error instanceof SumiError ? `${error.code}: ${error.message}` : String(error));
    process.exit(1);
  }
  console.log((batch + 1) * BATCH);
}

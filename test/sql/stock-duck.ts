// DuckDB with stock settings: opens the file FILE, runs SQL, prints its rows as JSON. With the word `hold` instead of SQL
// it prints a line and keeps the file open until its input ends.
import { DuckDBInstance } from '@duckdb/node-api';

const [file, sql] = process.argv.slice(2);
const instance = await DuckDBInstance.create(file);
const connection = await instance.connect();
if (sql === 'hold') {
  console.log(process.pid);
  process.stdin.resume();
  await new Promise((ended) => process.stdin.once('end', ended));
} else {
  const reader = await connection.runAndReadAll(sql);
  console.log(JSON.stringify(reader.getRowsJson()));
}
connection.closeSync();
instance.closeSync();

// A process of its own that uses the records of a store: `count KEY TIMES` adds to one record that others add to as well, each
// time only to the version it has read; `keep KEY` writes one, says so, and lives until it is killed.
import { openRecords } from '../../src/store/open-store.ts';

const [address, task, key, times] = process.argv.slice(2);
const records = await openRecords(address);

async function addOne() {
  const found = await records.get('service', '', key);
  const next = (found?.value ?? 0) + 1;
  return (await records.put('service', '', key, next, { ifVersion: found?.version ?? 0 })) !== null;
}

if (task === 'count') {
  for (let left = Number(times); left > 0; ) if (await addOne()) left--;
  await records.close();
} else {
  await records.put('token', '', key, { kept: true });
  process.stdout.write('written\n');
  process.stdin.resume();
}

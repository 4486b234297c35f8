// Makes the code cache of a built command: `node cache-code.cjs DIST`. Has it crawl its demo and keeps what V8 has
// compiled by then, so that the cache holds the functions that a crawl needs and no others. The command is started as
// it always is, so that its V8 flags are those of the cache. Decision 0020.
const { mkdtempSync, rmSync, writeFileSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');
const vm = require('node:vm');

const dist = process.argv[2];
const folder = mkdtempSync(join(tmpdir(), 'sumi-cache-'));
let script = null;

vm.Script = class extends vm.Script {
  constructor(...args) {
    super(...args);
    script = this;
  }
};
process.on('exit', (code) => {
  process.chdir(dist);
  rmSync(folder, { recursive: true, force: true });
  if (code === 0) writeFileSync(join(dist, 'command.cache'), script.createCachedData());
});
process.chdir(folder);
process.argv = [process.execPath, join(dist, 'sumi.cjs'), 'demo', '-q'];
require(join(dist, 'sumi.cjs'));

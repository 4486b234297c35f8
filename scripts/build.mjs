// Builds the command (dist/sumi.cjs, and dist/sumi.js for who imports it), the library (dist/index.js), the scanner's
// loops (dist/kernel.wasm) and the type declarations. Everything but the SQLite driver is bundled, because one file
// loads faster than a hundred; the driver is that of the Node that runs the command, not of the one that built it. The command is a script and not a module, as only scripts can be loaded with what V8 made
// of them before: see docs/decisions/0020-code-cache.md. The result takes the place of the old one in one step at the
// end, so that nobody ever sees half a build.
import { spawn } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { pagesPlugin } from './bundle-page.mjs';
import { compileKernel } from './compile-kernel.mjs';
import { repairDriverPlugin } from './repair-driver.mjs';

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
const withTypes = !process.argv.includes('--no-types');
const fresh = `dist.${process.pid}.new`;
const old = `dist.${process.pid}.old`;
const here = dirname(fileURLToPath(import.meta.url));

function replaceDist() {
  try {
    renameSync('dist', old);
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
  renameSync(fresh, 'dist');
  // A quick build keeps the types of the last whole one, which editors and examples go by.
  if (!withTypes && existsSync(`${old}/types`)) renameSync(`${old}/types`, 'dist/types');
  rmSync(old, { recursive: true, force: true });
}

/** What dependencies load at every start without need, and what takes its place. */
const STAND_INS = {
  // commander has it for commands in files of their own, of which we have none.
  'node:child_process':
    "module.exports = { spawn: (...args) => __sumiRequire('child_process').spawn(...args) };",
};

const quickStart = {
  name: 'quick-start',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:child_process$/ }, ({ path, importer }) =>
      /node_modules.commander/.test(importer) ? { path, namespace: 'stand-in' } : null,
    );
    onLoad({ filter: /.*/, namespace: 'stand-in' }, ({ path }) => ({ contents: STAND_INS[path] }));
  },
};

/**
 * The hundred files of DuckDB's package load faster as part of ours. Its binary stays where npm has put it, beside the
 * package: nobody else has to find it there.
 */
const duckDbBinary = {
  name: 'duckdb-binary',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^@duckdb\/node-bindings$/ }, ({ path }) => ({ path, namespace: 'duckdb-binary' }));
    onLoad({ filter: /.*/, namespace: 'duckdb-binary' }, ({ path }) => ({
      contents: `const here = require;
        module.exports = here('node:module').createRequire(here.resolve('@duckdb/node-api'))('${path}');`,
    }));
  },
};

/** Loaded by `sumi serve` and `sumi mcp` only, from where npm has put them: no other command reads past them. */
const OF_THE_SERVICE = [
  '@fastify/swagger',
  '@fastify/websocket',
  '@modelcontextprotocol/server',
  '@modelcontextprotocol/server/stdio',
  'croner',
  'fastify',
  'fastify-type-provider-zod',
  'zod',
];

const shared = {
  bundle: true,
  external: OF_THE_SERVICE,
  platform: 'node',
  target: 'node20',
  plugins: [pagesPlugin, repairDriverPlugin, duckDbBinary],
  define: { __SUMI_VERSION__: JSON.stringify(version) },
  // Less to read at every start; names stay, for the sake of stack traces.
  minifyWhitespace: true,
  minifySyntax: true,
  logLevel: 'warning',
};

function buildCommand() {
  return build({
    ...shared,
    entryPoints: { command: 'src/cli/sumi.ts' },
    outdir: fresh,
    outExtension: { '.js': '.cjs' },
    format: 'cjs',
    define: { ...shared.define, 'import.meta.url': '__sumiUrl' },
    // What the loader calls with what a script of its own would have.
    banner: { js: '(function(exports,require,module,__sumiUrl,__sumiRequire){' },
    footer: { js: '})' },
    plugins: [...shared.plugins, quickStart],
  });
}

function buildLibrary() {
  return build({
    ...shared,
    // Threads are started by their files.
    entryPoints: {
      index: 'src/index.ts',
      'read-thread': 'src/store/sqlite/read-thread.ts',
      'duckdb-thread': 'src/sql/thread/duckdb-thread.ts',
      // A process of its own.
      'query-process': 'src/sql/queries/query-process.ts',
      'engine-thread': 'src/running/engine-thread.ts',
      'project-thread': 'src/answers/project-thread.ts',
    },
    outdir: fresh,
    splitting: true,
    format: 'esm',
    banner: {
      js: "import { createRequire as __cr } from 'node:module'; const require = __cr(import.meta.url);",
    },
  });
}

/** Runs a Node program and gives its exit code. */
function runNode(args, options) {
  return new Promise((done, reject) => {
    const child = spawn(process.execPath, args, options);
    child.once('error', reject);
    child.once('close', (code) => done(code ?? 1));
  });
}

/** A crawl of the demo shows V8 which functions a crawl needs. Without the cache the command is only slower to start. */
async function cacheCode() {
  const args = [`${here}/cache-code.cjs`, resolve(fresh)];
  const code = await runNode(args, { stdio: ['ignore', 'ignore', 'inherit'], timeout: 60_000 });
  if (code !== 0) process.stderr.write(`The command has no code cache: making it ended with ${code}.\n`);
}

async function writeTypes() {
  const args = ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json', '--outDir', `${fresh}/types`];
  process.exitCode = await runNode(args, { stdio: 'inherit' });
}

try {
  await Promise.all([buildCommand(), buildLibrary(), compileKernel(`${fresh}/kernel.wasm`)]);
  copyFileSync(`${here}/start-command.cjs`, `${fresh}/sumi.cjs`);
  writeFileSync(`${fresh}/sumi.js`, "#!/usr/bin/env node\nimport './sumi.cjs';\n");
  for (const name of ['sumi.cjs', 'sumi.js']) chmodSync(`${fresh}/${name}`, 0o755);
  await Promise.all([cacheCode(), withTypes ? writeTypes() : null]);
  if (!process.exitCode) replaceDist();
} catch (error) {
  // esbuild has printed where and why; its own stack says nothing more.
  if (!Array.isArray(error.errors)) throw error;
  process.exitCode = 1;
} finally {
  rmSync(fresh, { recursive: true, force: true });
}

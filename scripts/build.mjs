// Builds the command (dist/sumi.js) and the library (dist/index.js) as two bundles over shared chunks, and the type
// declarations. Everything but the native module is bundled, because one file loads faster than a hundred. The result
// takes the place of the old one in one step at the end, so that nobody ever sees half a build.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { build } from 'esbuild';

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
const withTypes = !process.argv.includes('--no-types');
const fresh = `dist.${process.pid}.new`;
const old = `dist.${process.pid}.old`;

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

try {
  await build({
    entryPoints: { sumi: 'src/cli/sumi.ts', index: 'src/index.ts' },
    outdir: fresh,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    external: ['better-sqlite3'],
    define: { __SUMI_VERSION__: JSON.stringify(version) },
    banner: {
      js: "import { createRequire as __cr } from 'node:module'; const require = __cr(import.meta.url);",
    },
    // Less to read at every start; names stay, for the sake of stack traces.
    minifyWhitespace: true,
    minifySyntax: true,
    logLevel: 'warning',
  });
  chmodSync(`${fresh}/sumi.js`, 0o755);
  if (withTypes) {
    const { status } = spawnSync(
      process.execPath,
      ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json', '--outDir', `${fresh}/types`],
      { stdio: 'inherit' },
    );
    process.exitCode = status ?? 1;
  }
  if (!process.exitCode) replaceDist();
} catch (error) {
  // esbuild has printed where and why; its own stack says nothing more.
  if (!Array.isArray(error.errors)) throw error;
  process.exitCode = 1;
} finally {
  rmSync(fresh, { recursive: true, force: true });
}

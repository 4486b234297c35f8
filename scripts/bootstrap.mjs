// Makes a clone ready: installs packages when the lock file is not the one that was installed, builds when the sources
// are not those that were built, and with --run goes on as the `sumi` command in this same process, so that Ctrl-C and
// exit codes are the command's own. What is up to date is skipped; two runs at once wait for one another.
//
// npm runs it with --prepare after `npm ci` and `npm install` in a clone, before `npm pack`, and when a project installs a
// git checkout: the packages are there then, and what is left to do is the rest.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const LOCK = join(root, '.bootstrap-lock');
const MODULES = join(root, 'node_modules');
const INSTALLED = join(MODULES, '.sumi-installed');
const BUILT = join(root, 'dist', '.built');
const BUILDERS = [
  ...['build.mjs', 'bundle-page.mjs', 'compile-kernel.mjs', 'repair-driver.mjs'],
  ...['start-command.cjs', 'cache-code.cjs'],
];
const SCRIPTS = BUILDERS.map((name) => `scripts/${name}`);
const PACKAGES = ['package-lock.json', 'scripts/sqlite-node20'];
const SOURCES = ['src', 'package.json', ...SCRIPTS, 'tsconfig.json', 'tsconfig.build.json'];
const [MAJOR, MINOR] = [20, 19];

function fingerprint(paths, runtime = process.versions.modules) {
  const hash = createHash('sha256').update(runtime);
  for (const path of paths.flatMap((path) => filesUnder(join(root, path)))) {
    hash.update(`${relative(root, path)}\0`).update(readFileSync(path));
  }
  return hash.digest('hex');
}

/**
 * On Node 20 the driver that the lock file has for it takes the place of the one that npm left out: whatever asks for
 * better-sqlite3 gets the one that fits. A project that has Sumi-Ripple as a dependency needs no link.
 * docs/decisions/0035-sqlite-driver-by-node.md.
 */
function linkDriver() {
  const driver = join(MODULES, 'better-sqlite3');
  if (!existsSync(`${driver}-node20`)) return;
  // A link that leads nowhere does not exist, and is in the way all the same.
  if (lstatSync(driver, { throwIfNoEntry: false })?.isSymbolicLink()) rmSync(driver);
  // A junction needs no right on Windows; elsewhere the word is ignored.
  if (!existsSync(driver)) symlinkSync('better-sqlite3-node20', driver, 'junction');
}

function filesUnder(path) {
  if (!existsSync(path)) return [];
  if (!statSync(path).isDirectory()) return path.endsWith('.test.ts') ? [] : [path];
  return readdirSync(path)
    .sort()
    .flatMap((name) => filesUnder(join(path, name)));
}

function isStamped(stamp, mark) {
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === mark;
}

/** One thing to do: its output is only shown when it fails. */
function step(label, command, args) {
  const startedAt = Date.now();
  process.stderr.write(`${label} … `);
  const options = {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    // Tells the --prepare that npm runs at the end of its installing that the rest is done here.
    env: { ...process.env, SUMI_SETTING_UP: '1' },
  };
  // On Windows the npm of the path is a script of the shell. A shell would split the path of Node at its spaces.
  const isScript = command === 'npm' && process.platform === 'win32';
  const { status, error, stdout, stderr } = isScript
    ? spawnSync([command, ...args].join(' '), { ...options, shell: true })
    : spawnSync(command, args, options);
  if (status === 0) {
    process.stderr.write(`done in ${Math.max(1, Math.round((Date.now() - startedAt) / 1000))} s\n`);
    return;
  }
  const why = error ? error.message : `ended with ${status}`;
  process.stderr.write(`failed\n${stdout ?? ''}${stderr ?? ''}\n\`${command} ${args.join(' ')}\` ${why}.\n`);
  rmSync(LOCK, { recursive: true, force: true });
  process.exit(1);
}

/**
 * All packages, those for building too, whatever the command was told whose script this is (`npm install --global`,
 * `npm pack --dry-run`, NODE_ENV=production).
 */
function installPackages() {
  const args = ['ci', '--no-audit', '--no-fund', '--include=dev', '--include=optional', '--no-dry-run'];
  args.push('--no-global', '--location=project');
  const { npm_execpath: running = '' } = process.env;
  const [command, ...more] = running.endsWith('npm-cli.js') ? [process.execPath, running] : ['npm'];
  step('Installing packages (once, up to two minutes)', command, [...more, ...args]);
}

/** A directory, because making one either works or does not, for any number of processes. */
function lock() {
  let isTold = false;
  for (;;) {
    try {
      mkdirSync(LOCK);
      writeFileSync(join(LOCK, 'pid'), String(process.pid));
      return;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    if (holderIsGone()) rmSync(LOCK, { recursive: true, force: true });
    else {
      if (!isTold) process.stderr.write('Another process is setting up; waiting for it …\n');
      isTold = true;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
    }
  }
}

function holderIsGone() {
  try {
    const pid = Number(readFileSync(join(LOCK, 'pid'), 'utf8'));
    if (pid > 0) process.kill(pid, 0);
    return false;
  } catch (error) {
    // No pid yet: the lock is being taken this very moment, unless it is old.
    if (error.code === 'ENOENT') return existsSync(LOCK) && Date.now() - statSync(LOCK).mtimeMs > 5000;
    return error.code === 'ESRCH';
  }
}

const isThere = (name) => existsSync(join(MODULES, name));
const isAfterInstall = ['ci', 'install'].includes(process.env.npm_command);

/** Whether npm has just installed them all, and runs this file to hear whether anything is left to do. */
function isInstalledByNpm() {
  return isAfterInstall && isThere('esbuild');
}

/**
 * `npm ci --omit=dev` asks for a clone without what building takes. What npm installed tells: that flag also stands in the
 * environment when npm makes a package of a git checkout, with all that building takes.
 */
function isWithoutBuilders() {
  return isAfterInstall && isThere('commander') && !isThere('esbuild');
}

function makeReady(isPrepare) {
  const wanted = fingerprint(PACKAGES);
  // The code cache is good for one V8 only.
  const sources = fingerprint(SOURCES, process.versions.v8);
  const isInstalled = isPrepare ? isInstalledByNpm() : isStamped(INSTALLED, wanted);
  if (!isPrepare && isInstalled && isStamped(BUILT, sources)) return;
  lock();
  try {
    if (!isInstalled && !isStamped(INSTALLED, wanted)) installPackages();
    linkDriver();
    writeFileSync(INSTALLED, wanted);
    if (!isStamped(BUILT, sources)) {
      step('Building', process.execPath, [join(root, 'scripts', 'build.mjs')]);
      writeFileSync(BUILT, sources);
    }
  } finally {
    rmSync(LOCK, { recursive: true, force: true });
  }
}

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < MAJOR || (major === MAJOR && minor < MINOR)) {
  process.stderr.write(
    `Sumi-Ripple needs Node ${MAJOR}.${MINOR} or newer; this is ${process.versions.node}.\n`,
  );
  process.exit(2);
}
const isPrepare = process.argv.includes('--prepare');
// Bootstrap's own `npm ci` leaves the rest to it.
const hasNothingToDo = isPrepare && (process.env.SUMI_SETTING_UP || isWithoutBuilders());
if (!hasNothingToDo) makeReady(isPrepare);
const run = process.argv.indexOf('--run');
if (run !== -1) {
  const entry = join(root, 'dist', 'sumi.js');
  process.argv.splice(1, run, entry);
  await import(pathToFileURL(entry).href);
}

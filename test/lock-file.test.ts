// `npm ci` refuses a lock file that lacks a package which some other platform would install, and a lock file only has
// what the registry had on the day it was written. This reads package-lock.json and names what is missing.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

interface LockedPackage {
  version?: string;
  integrity?: string;
  link?: boolean;
  optional?: boolean;
  os?: string[];
  cpu?: string[];
  engines?: { node?: string };
  optionalDependencies?: Record<string, string>;
}

const SERVED = ['linux', 'darwin', 'win32'].flatMap((os) => ['x64', 'arm64'].map((cpu) => ({ os, cpu })));

function readLock(): Record<string, LockedPackage> {
  const text = readFileSync(join(import.meta.dirname, '..', 'package-lock.json'), 'utf8');
  return (JSON.parse(text) as { packages: Record<string, LockedPackage> }).packages;
}

/** As Node looks: in the package's own node_modules, then in those of the folders above. */
function findLocked(packages: Record<string, LockedPackage>, from: string, name: string) {
  const folders =
    from === '' ? [''] : [...from.split('/').map((_, at, all) => all.slice(0, at + 1).join('/'))];
  for (const folder of ['', ...folders].reverse()) {
    const path = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`;
    if (packages[path] !== undefined) return packages[path];
  }
  return undefined;
}

/** The packages that the lock file lacks, each as "NAME VERSION of WHAT ASKS FOR IT". */
function missingPackages(packages: Record<string, LockedPackage>): string[] {
  return Object.entries(packages).flatMap(([path, { optionalDependencies = {}, version }]) =>
    Object.entries(optionalDependencies)
      .filter(([name]) => findLocked(packages, path, name) === undefined)
      .map(([name, wanted]) => `${name} ${wanted} of ${path} ${version}`),
  );
}

/** Of each package that comes in a binary a platform: the platforms for which it has none. */
function missingPlatforms(packages: Record<string, LockedPackage>): string[] {
  return Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) => {
    const names = Object.keys(optionalDependencies);
    const binaries = names
      .map((name) => findLocked(packages, path, name))
      .filter((one) => one?.cpu && one.os);
    // One or two are extras of some system, such as fsevents of macOS.
    if (names.length <= 2) return [];
    return SERVED.filter(
      ({ os, cpu }) => !binaries.some((one) => one!.os!.includes(os) && one!.cpu!.includes(cpu)),
    ).map(({ os, cpu }) => `${path}: ${os} ${cpu}`);
  });
}

describe('the lock file', () => {
  const packages = readLock();

  it('has every package that any platform would install', () => {
    expect(missingPackages(packages)).toEqual([]);
  });

  it('has the binaries for Linux, macOS and Windows, x64 and arm64', () => {
    expect(missingPlatforms(packages)).toEqual([]);
  });

  it('has version and integrity of each, so that npm ci needs no list of versions', () => {
    const folders = Object.entries(packages).filter(
      ([path, { link }]) => !link && path.includes('node_modules/'),
    );
    const bare = folders.filter(([, { version, integrity }]) => !version || !integrity);
    expect(folders.length).toBeGreaterThan(50);
    expect(bare.map(([path]) => path)).toEqual([]);
  });

  it('has one SQLite driver for Node 20 and one for the others, and npm may leave out the one that does not fit', () => {
    const locked = (path: string) => {
      const { version, engines, optional } = packages[path];
      return { version: version!.split('.')[0], node: engines?.node, optional };
    };
    expect(locked('node_modules/better-sqlite3')).toEqual({ version: '13', node: '>=22', optional: true });
    expect(locked('scripts/sqlite-node20/node20-only')).toEqual({
      version: '1',
      node: '20.x',
      optional: true,
    });
    expect(locked('node_modules/better-sqlite3-node20')).toMatchObject({ version: '12', optional: true });
  });

  it('is told by this test what it lacks', () => {
    const name = 'node_modules/@esbuild/darwin-arm64';
    expect(packages).toHaveProperty([name]);
    const less = Object.fromEntries(Object.entries(packages).filter(([path]) => path !== name));
    expect(missingPackages(less)).toEqual([
      expect.stringMatching(/^@esbuild\/darwin-arm64 \S+ of node_modules\/esbuild/),
    ]);
    expect(missingPlatforms(less)).toEqual(['node_modules/esbuild: darwin arm64']);
  });
});

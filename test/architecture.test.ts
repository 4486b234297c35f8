/**
 * DESIGN section 9 as tests: which folder may know which, nothing in circles, everything documented, nothing too long.
 * What breaks a rule on purpose stands in a list here with its reason; an entry that is no longer needed fails too.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { OPTION_NAMES } from '../src/config/option-table.ts';
import { ERRORS } from '../src/errors.ts';
import { PARTS } from './parts.ts';

const ROOT = resolve(import.meta.dirname, '..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

function filesUnder(folder: string, pattern: RegExp): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map((path) => join(folder, path))
    .filter((path) => pattern.test(path) && !path.includes('node_modules'))
    .sort();
}

const isTest = (path: string) => path.endsWith('.test.ts');
const SOURCES = filesUnder('src', /\.ts$/).filter((path) => !isTest(path) && !path.endsWith('.d.ts'));
const ALL = ['src', 'test', 'bench', 'scripts', 'examples'].flatMap((folder) =>
  filesUnder(folder, /\.(ts|mjs)$/),
);
const TESTS = ALL.filter((path) => isTest(path) || path.startsWith('test/'));

interface Import {
  from: string;
  to: string;
  /** Erased by the compiler: knows the shape of things, not the things. */
  isType: boolean;
}

const IMPORT =
  /^(?:import|export)\s+(type\s)?[^;'"]*?from\s+'(\.[^']+)'|^import\s+'(\.[^']+)'|\bimport\('(\.[^']+)'\)/gm;

function importsOf(path: string): Import[] {
  return [...read(path).matchAll(IMPORT)].map((match) => ({
    from: path,
    to: relative(ROOT, resolve(ROOT, dirname(path), match[2] ?? match[3] ?? match[4])),
    isType: match[1] !== undefined,
  }));
}

const IMPORTS = SOURCES.flatMap(importsOf);

/** Parts whose folders are one part: they may use each other. */
const ROOMS = ['config', 'crawl', 'sql', 'cli', 'running', 'contract', 'answers', 'api', 'mcp'];

/** The part of the program a file belongs to: its folder under src, or the file itself at the top. */
function partOf(path: string): string {
  const folder = relative('src', dirname(path));
  if (folder === '') return basename(path, '.ts');
  return ROOMS.find((part) => folder.startsWith(`${part}/`)) ?? folder;
}

const FRONT_DOORS = ['index', 'cli', 'api', 'sql', 'mcp'];
/** The terminal of `sumi sql` and programs are two faces of one door: what they know of it. */
const SQL_SESSION = [
  'src/sql/open-queries.ts',
  'src/sql/open-sql.ts',
  'src/sql/sql-session.ts',
  'src/sql/output/result-format.ts',
  'src/sql/output/render-error.ts',
];
/** A service is composed here of its doors, the engine and the store; its own commands are part of it. */
const COMPOSERS = ['mcp', 'open-answering', 'serve', 'start-serving', 'token'].map(
  (name) => `src/cli/${name}.ts`,
);
const ADAPTERS = ['store/sqlite', 'store/files', 'store/postgres', 'store/s3'];

/** "from → to" → why. */
const IMPORT_EXCEPTIONS: Record<string, string> = {
  'src/change/validators.ts → src/parse/http-date.ts': 'an HTTP date is one format, read in one place',
  'src/cli/crawl-to-end.ts → src/crawl/start-crawl.ts':
    'the one command that starts the loop: the handle is what a use case would give back',
  'src/fetch/retry-after.ts → src/parse/http-date.ts': 'an HTTP date is one format, read in one place',
  'src/store/postgres/read-links.ts → src/parse/parsed-page.ts':
    'the names of the link flags, a table of constants',
  'src/store/sqlite/read-links.ts → src/parse/parsed-page.ts':
    'the names of the link flags, a table of constants',
};

const FILE_EXCEPTIONS: Record<string, string> = {
  'src/errors.ts': 'one table, six lines an error',
};

/** File that has a longer function → why. */
const FUNCTION_EXCEPTIONS: Record<string, string> = {};

/** File that has a function of more parameters → why. */
const PARAMETER_EXCEPTIONS: Record<string, string> = {
  'src/store/sqlite/known-urls.ts': 'the four words of a hash, for every URL: an object each would cost more',
  'src/url/href-cache.ts': 'a span of bytes and its hash, for every new link: an object each would cost more',
};

/** Tests that wait by the clock on the wall: file → why nothing else will do. */
const WAITING_TESTS: Record<string, string> = {
  'src/fetch/http-fetcher.test.ts': 'a server that drips bytes for ever can only drip by a timer',
  'test/docs/serve-session.ts':
    'what a terminal shows of other processes is asked again, until the crawl is where the page has it',
  'test/faults/beats.ts': 'how late the judge itself is can only be told by a timer',
  'test/faults/crew.ts':
    'rows and a log of other processes call nobody: they are looked at again, until they say so',
  'test/sql/beside-queries.test.ts': 'a site that answers slowly enough to be left in the middle of a crawl',
  'test/faults/stop-at-rest.ts': 'where a process was stopped can only be looked at, again and again',
};

describe('imports', () => {
  it('are all seen by this test', () => {
    for (const path of SOURCES) {
      const mentioned = read(path).match(/(from|import\(|^import) ?'\.\.?\//gm)?.length ?? 0;
      expect(importsOf(path).length, path).toBe(mentioned);
    }
    expect(IMPORTS.length).toBeGreaterThan(100);
  });

  it('go one way: every part uses only what its line in the table says', () => {
    const wrong = IMPORTS.filter(({ from, to, isType }) => {
      const [own, other] = [partOf(from), partOf(to)];
      if (own === other || other === 'errors' || COMPOSERS.includes(from)) return false;
      const part = PARTS[own];
      expect(part, `${own} is in the table of parts`).toBeDefined();
      return !part.uses.includes(other) && !(isType && part.types?.includes(other));
    }).map(({ from, to }) => `${from} → ${to}`);
    expect(wrong.sort()).toEqual(Object.keys(IMPORT_EXCEPTIONS).sort());
  });

  it('never lead to a front door, but for the session that the terminal and programs open', () => {
    const opensSession = ({ from, to }: Import) =>
      ['cli', 'index'].includes(partOf(from)) && SQL_SESSION.includes(to);
    const wrong = IMPORTS.filter(
      (one) =>
        FRONT_DOORS.includes(partOf(one.to)) &&
        partOf(one.from) !== partOf(one.to) &&
        !opensSession(one) &&
        !COMPOSERS.includes(one.from),
    );
    expect(wrong).toEqual([]);
  });

  it('lead to an adapter from open-store.ts only', () => {
    const wrong = IMPORTS.filter(
      ({ from, to }) =>
        ADAPTERS.includes(partOf(to)) && partOf(from) !== partOf(to) && from !== 'src/store/open-store.ts',
    );
    expect(wrong).toEqual([]);
  });

  it('lead to the SQLite driver from driver.ts only, which knows the one that fits this Node', () => {
    const loads = /^import (?!type\b)[^;]*'better-sqlite3'|require\('better-sqlite3'\)/m;
    expect(SOURCES.filter((path) => loads.test(read(path)))).toEqual(['src/store/sqlite/driver.ts']);
  });

  it('never go in a circle, not even for types', () => {
    const next = new Map<string, string[]>();
    for (const { from, to } of IMPORTS) {
      const targets = next.get(from);
      if (targets === undefined) next.set(from, [to]);
      else targets.push(to);
    }
    const done = new Set<string>();
    function visit(path: string, way: string[]): void {
      expect(way.includes(path), `a circle: ${[...way, path].join(' → ')}`).toBe(false);
      if (done.has(path)) return;
      for (const target of next.get(path) ?? []) visit(target, [...way, path]);
      done.add(path);
    }
    for (const path of SOURCES) visit(path, []);
    expect(done.size).toBe(new Set([...SOURCES, ...IMPORTS.map(({ to }) => to)]).size);
  });
});

describe('documents', () => {
  it('name every error code, and every code is used', () => {
    const page = read('docs/errors.md');
    const users = SOURCES.filter((path) => path !== 'src/errors.ts').map(read);
    for (const code of Object.keys(ERRORS)) {
      expect(page, `docs/errors.md: ${code}`).toContain(`\`${code}\``);
      expect(
        users.some((text) => text.includes(`'${code}'`)),
        `${code} is used`,
      ).toBe(true);
    }
  });

  it('name every option', () => {
    const page = read('docs/options.md');
    for (const name of OPTION_NAMES) expect(page, `docs/options.md: ${name}`).toContain(`| \`${name}\``);
    expect(OPTION_NAMES.length).toBeGreaterThan(30);
  });
});

describe('examples', () => {
  it('use nothing but what the package exports', () => {
    const examples = filesUnder('examples', /\.ts$/).filter((path) => !isTest(path));
    expect(examples.length).toBeGreaterThan(8);
    const imported = examples.flatMap((path) =>
      [...read(path).matchAll(/from '([^']+)'/g)].map(([, name]) => name),
    );
    const others = imported.filter((name) => name !== 'sumi-ripple' && !name.startsWith('node:'));
    // The example about SQL opens the file with a driver of its own.
    expect(others).toEqual(['better-sqlite3']);
  });
});

describe('the use cases in src/project', () => {
  const USE_CASES = SOURCES.filter((path) => partOf(path) === 'project');
  const TERMINAL =
    /\bprocess\.(?!on\b|once\b|off\b)\w+|\bconsole\.|from 'commander'|from 'node:(?:process|readline)/;

  it('know no flags, no terminal and no environment: every door can call them', () => {
    expect(USE_CASES.length).toBeGreaterThan(10);
    expect(USE_CASES.filter((path) => TERMINAL.test(read(path)))).toEqual([]);
  });

  it('import nothing of a door', () => {
    const wrong = IMPORTS.filter(
      ({ from, to }) => USE_CASES.includes(from) && FRONT_DOORS.includes(partOf(to)),
    );
    expect(wrong).toEqual([]);
  });
});

interface Finding {
  path: string;
  line: number;
}

/** What one rule of the linter, with these options, finds in src. */
function findings(rule: string, options: object): Finding[] {
  const folder = mkdtempSync(join(tmpdir(), 'sumi-lint-'));
  const rules = { recommended: false, complexity: { [rule]: { level: 'error', options } } };
  writeFileSync(join(folder, 'biome.json'), JSON.stringify({ root: true, linter: { rules } }));
  const biome = join(ROOT, 'node_modules/@biomejs/biome/bin/biome');
  const flags = [`--config-path=${folder}`, '--reporter=json', '--max-diagnostics=none'];
  let output: string;
  try {
    output = execFileSync(process.execPath, [biome, 'lint', ...flags, 'src'], {
      cwd: ROOT,
      encoding: 'utf8',
      maxBuffer: 1 << 28,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  } catch (error) {
    // Findings are an exit code of 1: they are what we came for.
    output = (error as { stdout: string }).stdout;
  } finally {
    rmSync(folder, { recursive: true });
  }
  const { diagnostics } = JSON.parse(output) as {
    diagnostics: { category: string; location: { path: string; start: { line: number } } }[];
  };
  return diagnostics
    .filter(({ category }) => category === `lint/complexity/${rule}`)
    .map(({ location }) => ({ path: location.path, line: location.start.line }))
    .filter(({ path }) => !isTest(path));
}

const filesOf = (found: Finding[]) => [...new Set(found.map(({ path }) => path))].sort();
const placesOf = (found: Finding[]) => found.map(({ path, line }) => `${path}:${line}`).join(', ');

describe('size', () => {
  it('of a file is at most 500 lines', () => {
    const long = ALL.filter((path) => read(path).split('\n').length - 1 > 500);
    expect(long).toEqual(Object.keys(FILE_EXCEPTIONS).sort());
  });

  it('of a function is at most 150 lines of code, its inner functions included', () => {
    // The rule is at work: many functions have more than forty lines.
    expect(findings('noExcessiveLinesPerFunction', { maxLines: 40 }).length).toBeGreaterThan(50);
    const long = findings('noExcessiveLinesPerFunction', { maxLines: 150 });
    expect(filesOf(long), placesOf(long)).toEqual(Object.keys(FUNCTION_EXCEPTIONS).sort());
  });

  it('of a list of parameters is at most five', () => {
    expect(findings('useMaxParams', { max: 4 }).length).toBeGreaterThan(20);
    const wide = findings('useMaxParams', { max: 5 });
    expect(filesOf(wide), placesOf(wide)).toEqual(Object.keys(PARAMETER_EXCEPTIONS).sort());
  });
});

describe('names and leftovers', () => {
  const BANNED = ['utils', 'util', 'helpers', 'helper', 'common', 'manager', 'service', 'base'];

  it('no file or folder has a name that says nothing', () => {
    const words = (path: string) => path.split(/[/.-]/);
    expect(ALL.filter((path) => words(path).some((word) => BANNED.includes(word)))).toEqual([]);
  });

  it('files are in kebab-case', () => {
    expect(ALL.filter((path) => !/^[a-z0-9-]+(\.test|\.d)?\.(ts|mjs)$/.test(basename(path)))).toEqual([]);
  });

  it('nothing is left to be done later', () => {
    // In two halves, so that this file does not find itself.
    const marks = ['TO' + 'DO', 'FIX' + 'ME', 'X' + 'XX'].map((mark) => new RegExp(`\\b${mark}\\b`));
    expect(ALL.filter((path) => marks.some((mark) => mark.test(read(path))))).toEqual([]);
  });

  it('tests do not wait by the clock, but for those listed', () => {
    const waits = /\bset(Timeout|Interval)\(|\bsleep\(|node:timers|Atomics\.wait/;
    const own = 'test/architecture.test.ts';
    const waiting = TESTS.filter((path) => path !== own && waits.test(read(path)));
    expect(waiting.sort()).toEqual(Object.keys(WAITING_TESTS).sort());
  });
});

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { markdownFiles, REPOSITORY as root } from '../scripts/markdown-files.ts';
import { wrapProse } from '../scripts/wrap-prose.ts';
import { OPTIONS } from '../src/config/option-table.ts';
import { PROFILES } from '../src/config/profiles.ts';
import { ERRORS } from '../src/errors.ts';

const PAGES = markdownFiles();
const decisions = PAGES.filter((path) => path.startsWith('docs/decisions/'));

const textOf = (path: string) => readFileSync(join(root, path), 'utf8');

/** Paths in backticks (from the root) and link targets (from the page). */
function filesNamedIn(path: string, text: string): string[] {
  const named = [...text.matchAll(/`((?:src|test|docs|examples|scripts|bench)\/[\w./-]*)`/g)];
  const linked = [...text.matchAll(/\]\((?!https?:)([^)#]+)/g)];
  return [...named.map(([, to]) => to), ...linked.map(([, to]) => join(dirname(path), to))];
}

it('pages name only files that exist', () => {
  const named = PAGES.flatMap((path) => filesNamedIn(path, textOf(path)).map((to) => ({ path, to })));
  expect(named.length).toBeGreaterThan(60);
  expect(named.filter(({ to }) => !existsSync(join(root, to)))).toEqual([]);
});

it('decisions are numbered without gaps and say context, choice and consequence', () => {
  decisions.sort().forEach((path, index) => {
    const number = String(index + 1).padStart(4, '0');
    const text = textOf(path);
    expect(path).toMatch(new RegExp(`^docs/decisions/${number}-[a-z0-9-]+\\.md$`));
    expect(text).toMatch(new RegExp(`^# ${number} `));
    for (const part of ['Context', 'Choice', 'Consequence']) expect(text, path).toContain(`**${part}.**`);
  });
});

it('a decision fits on one page', () => {
  const lines = (path: string) => textOf(path).split('\n').length - 1;
  expect(decisions.filter((path) => lines(path) > 60)).toEqual([]);
});

it('the changelog has one line a change', () => {
  const lines = textOf('CHANGELOG.md').split('\n');
  expect(lines.filter((line) => /^\s/.test(line))).toEqual([]);
  expect(lines.filter((line) => line.startsWith('- ')).length).toBeGreaterThan(100);
});

describe('prose', () => {
  it('has no line over 120 letters (else: npm run docs)', () => {
    expect(PAGES.filter((path) => wrapProse(textOf(path)) !== textOf(path))).toEqual([]);
  });

  it('that is too long is wrapped, and what is not prose stays as it is', () => {
    const words = 'some `code that stays` 20 ms - and '.repeat(8).trim();
    const kept = ['# A heading', '', '| a table |', '', '```', words, '```', '', 'Columns: `a`', ''].join(
      '\n',
    );
    const wrapped = wrapProse(`${kept}- ${words}\n\n  ${words}\n`);
    expect(wrapped.startsWith(kept)).toBe(true);
    const lines = wrapped.slice(kept.length).split('\n');
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(120);
    expect(lines.filter((line) => /^\s*-/.test(line))).toHaveLength(1);
    expect(wrapped.match(/`code that stays`/g)).toHaveLength(24);
    expect(wrapped).not.toMatch(/20\n/);
    expect(wrapProse(wrapped)).toBe(wrapped);
  });
});

it('pages use one word an idea: tick, host request and allowance', () => {
  const replaced = /\berrands?\b|\b(?:a|the|each|every|next|last|first|one|coming) looks?\b/i;
  expect('at the next look').toMatch(replaced);
  expect('an errand to a host').toMatch(replaced);
  const others = ['CONTRIBUTING.md', 'docs/decisions/0047-looks-windows-and-pages.md'];
  const pages = PAGES.filter((path) => !others.includes(path));
  expect(pages.filter((path) => replaced.test(textOf(path)))).toEqual([]);
});

/** Documents that no reader has: "003's average", "appendix B", "section 5", "Promise 3". */
const NUMBERED_DOCUMENT =
  /(?<![\d.,_])00[0-4](?:'s\b|\b)(?![.,]?\d)|\bspecification\s+0|\bappendix\s+[A-Z]\b|\bsection\s+\d|\bpromise\s+\d/i;

describe('what users read names rules by their names, not by numbers of documents', () => {
  const foundIn = (texts: Readonly<Record<string, string>>) =>
    Object.entries(texts).filter(([, text]) =>
      NUMBERED_DOCUMENT.test(text.replace(/RFC \d+,? section \d+/g, '')),
    );

  it('in every page', () => {
    expect(foundIn(Object.fromEntries(PAGES.map((path) => [path, textOf(path)])))).toEqual([]);
  });

  it('in the help of options and profiles', () => {
    const options = Object.entries(OPTIONS).map(([name, { doc }]) => [name, doc]);
    const profiles = Object.entries(PROFILES).map(([name, { doc }]) => [name, doc]);
    expect(foundIn(Object.fromEntries([...options, ...profiles]))).toEqual([]);
  });

  it('in errors and their hints', () => {
    const errors = Object.entries(ERRORS).map(([code, { message, hint }]) => [code, `${message} ${hint}`]);
    expect(foundIn(Object.fromEntries(errors))).toEqual([]);
  });

  it('in what commands print', () => {
    const files = ['cli', 'project', 'render', 'pages'].flatMap((folder) =>
      (readdirSync(join(root, 'src', folder), { recursive: true }) as string[])
        .filter((name) => /(?<!\.test)\.(?:ts|html)$/.test(name))
        .map((name) => join('src', folder, name)),
    );
    expect(files.length).toBeGreaterThan(60);
    const code = (path: string) => textOf(path).replace(/^\s*(?:\/?\*|\/\/).*$/gm, '');
    expect(foundIn(Object.fromEntries(files.map((path) => [path, code(path)])))).toEqual([]);
  });

  it.each(["by 003's average", 'see appendix B', 'as section 5 says', 'Specification 004', 'Promise 3'])(
    'finds “%s”',
    (text) => expect(foundIn({ text })).toHaveLength(1),
  );

  it.each(['10,000 pages', '[0031](0031-a.md)', '0.001 s', '1,002,003', 'RFC 9309 section 2.2'])(
    'passes “%s”',
    (text) => expect(foundIn({ text })).toEqual([]),
  );
});

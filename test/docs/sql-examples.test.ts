// Runs every example of docs/sql.md and compares what it prints; times and durations may differ. `npm test` builds before it
// comes here.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fillSql, SQL_TABLES } from '../../scripts/sql-doc.ts';
import { NAMED_OPTIONS } from '../../src/sql/language/option-names.ts';
import { examplesOf, isPrinted, withoutTimes } from './examples-of.ts';
import { type ExampleRunner, startExamples } from './run-examples.ts';

const page = readFileSync(new URL('../../docs/sql.md', import.meta.url), 'utf8');
const examples = examplesOf(page);

describe('the examples of docs/sql.md', () => {
  let runner: ExampleRunner;
  beforeAll(async () => {
    runner = await startExamples();
  });
  afterAll(() => runner.close());

  it('are many', () => {
    expect(examples.filter(({ kind }) => kind === 'sql').length).toBeGreaterThan(15);
    expect(examples.filter(({ kind }) => kind === 'commands').length).toBeGreaterThan(3);
  });

  it.each(examples.map((example) => [titleOf(example), example] as const))('%s', async (_, example) => {
    const expected = example.kind === 'sql' ? [example.output] : example.steps.map(({ output }) => output);
    const printed = await runner.run(example);
    if (printed.some((text, at) => !isPrinted(expected[at], text)))
      expect(printed.map(withoutTimes)).toEqual(expected.map(withoutTimes));
  });
});

it('a line … stands for any lines, and all others have to be printed', () => {
  expect(isPrinted('a\n…\nd\n', 'a\nb\nc\nd\n')).toBe(true);
  expect(isPrinted('a\nb   0.10 ms\n', 'a\nb 0.10 ms')).toBe(true);
  for (const printed of ['a\nb\n', 'b\nd\n', 'a\nd\ne\n', 'x\na\nd\n'])
    expect(isPrinted('a\n…\nd\n', printed), printed).toBe(false);
});

function titleOf(example: (typeof examples)[number]): string {
  return (example.kind === 'sql' ? example.script : example.text).split('\n')[0];
}

describe('the tables of docs/sql.md', () => {
  it('are those of the source (else: npm run docs)', () => {
    expect([...page.matchAll(/^<!-- table: ([\w ]+) -->$/gm)].map(([, name]) => name)).toEqual(SQL_TABLES);
    expect(page).toBe(fillSql(page));
    for (const { name } of NAMED_OPTIONS) expect(page).toContain(`| \`${name}\` | `);
  });

  it('are noticed when they are stale', () => {
    const stale = '<!-- table: errors -->\nold\n<!-- end -->\n';
    expect(fillSql(stale)).not.toBe(stale);
  });
});

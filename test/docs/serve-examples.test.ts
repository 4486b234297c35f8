// Runs every example of docs/service.md, in one session and in the order of the page, and compares what it prints. `npm test`
// builds before it comes here.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OWN_SETTINGS } from '../../src/config/wire-settings.ts';
import { EXPORTS } from '../../src/contract/export.ts';
import { PAGE_SORTS } from '../../src/contract/page-query.ts';
import { TOOLS } from '../../src/mcp/tool-list.ts';
import { WEBHOOK_EVENTS } from '../../src/running/webhook-verbs.ts';
import { type Learned, matchPrinted } from './match-printed.ts';
import { serviceExamplesOf } from './serve-page.ts';
import { type ServiceSession, startSession } from './serve-session.ts';
import { showJson } from './show-json.ts';

const page = readFileSync(new URL('../../docs/service.md', import.meta.url), 'utf8');
const examples = serviceExamplesOf(page);
/** The crawls of the page wait between two requests, as real ones do. */
const LONGEST_MS = 120_000;

describe('the examples of docs/service.md', () => {
  let session: ServiceSession;
  beforeAll(async () => {
    session = await startSession();
    for (const example of examples)
      if (example.kind === 'file') session.writeFile(example.name, example.text);
  });
  afterAll(async () => {
    expect(await session.close()).toBe(0);
  });

  const commands = examples.flatMap((example) => (example.kind === 'commands' ? [example] : []));

  it('are many', () => {
    expect(commands.flatMap(({ steps }) => steps).length).toBeGreaterThan(50);
    expect(examples.length - commands.length).toBe(4);
  });

  it.each(commands.map((example) => [example.title, example] as const))(
    '%s',
    async (_, { steps, isWeekLater }) => {
      if (isWeekLater) session.web.setWeek(2);
      for (const { command, output } of steps) {
        const { text, isRight } = await session.run(command, output);
        if (!isRight) expect(text, command).toBe(output);
      }
    },
    LONGEST_MS,
  );
});

describe('docs/service.md names', () => {
  it('every tool, setting, sort, export and webhook event', () => {
    const names = [
      ...TOOLS.map(({ name }) => name),
      ...Object.keys(OWN_SETTINGS),
      ...PAGE_SORTS,
      ...Object.keys(EXPORTS),
      ...WEBHOOK_EVENTS,
    ];
    expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
    for (const formats of Object.values(EXPORTS)) expect(page).toContain(`| ${formats.join(', ')} |`);
  });
});

describe('what a page says is compared with what is printed', () => {
  const one = '11111111-1111-4111-8111-111111111111';
  const other = '22222222-2222-4222-8222-222222222222';

  it('a line … stands for any lines, and … in a line for any text of it', () => {
    const expected = '{\n  "a": 1,\n…\n  "d": "x…z"\n}\n';
    expect(matchPrinted(expected, '{\n  "a": 1,\n  "b": 2,\n  "d": "xyz"\n}', new Map())).toBe(true);
    for (const printed of [
      '{\n  "a": 1,\n  "d": "xy"\n}',
      '{\n  "a": 2,\n  "d": "xz"\n}',
      '{\n  "d": "xz"\n}',
    ])
      expect(matchPrinted(expected, printed, new Map()), printed).toBe(false);
  });

  it('an id is learned where it is first printed, and is the same from then on', () => {
    const learned: Learned = new Map();
    expect(matchPrinted(`id ${one}, again ${one}`, `id ${other}, again ${one}`, learned)).toBe(false);
    expect(matchPrinted(`id ${one}, again ${one}`, `id ${other}, again ${other}`, learned)).toBe(true);
    expect(matchPrinted(`id ${one}`, `id ${one}`, learned)).toBe(false);
    expect(matchPrinted(`id ${one}`, `id ${other}`, learned)).toBe(true);
  });

  it('times and durations may differ, other numbers may not', () => {
    const at = (time: string, spent: number, pages: number) =>
      `{ "at": "${time}", "duration_ms": ${spent}, "pages": ${pages} }`;
    const expected = at('2026-11-20T09:00:00.000Z', 12, 3);
    expect(matchPrinted(expected, at('2027-01-02T03:04:05.678Z', 0.5, 3), new Map())).toBe(true);
    expect(matchPrinted(expected, at('2026-11-20T09:00:00.000Z', 12, 4), new Map())).toBe(false);
  });

  it('JSON that is too long for a line is broken at its members', () => {
    const long = { list: ['a'.repeat(60), { b: 'c'.repeat(60) }], n: 1 };
    expect(JSON.parse(showJson(JSON.stringify(long)))).toEqual(long);
    expect(showJson(JSON.stringify(long)).split('\n')).toHaveLength(7);
    expect(showJson('{"short":true}')).toBe('{"short":true}');
  });
});

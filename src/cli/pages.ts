/** `sumi pages`: every known URL with its state, the rule that decided, and what the last visit found. */
import { extname } from 'node:path';
import { Command, Option } from 'commander';
import { VISIT_OUTCOMES, type VisitOutcome } from '../change/visit-record.ts';
import { nearestName } from '../config/nearest-name.ts';
import { withoutCredentials } from '../config/url-credentials.ts';
import { readRate } from '../config/watch-values.ts';
import { sumiError } from '../errors.ts';
import { PAGE_COLUMNS, PAGE_NAMES } from '../export/list-columns.ts';
import { parquetPieces } from '../export/parquet-pieces.ts';
import { type ListFormat, rowPieces } from '../export/row-pieces.ts';
import { BROKEN_STATES } from '../frontier/counting-words.ts';
import { PAGE_STATES, type PageState } from '../frontier/page-state.ts';
import { hasSeveralProjects, isRefused } from '../project/list-rows.ts';
import { showRate } from '../render/describe-changes.ts';
import type { Column } from '../render/render-table.ts';
import { stateColour } from '../render/state-colour.ts';
import { printable, showMany } from '../render/terminal-text.ts';
import type { PageRow } from '../store/read-side.ts';
import { addReadFlags, collect, type Reading, wantsBom, withReadSide } from './read-command.ts';
import { type OwnFlag, readLength } from './read-time.ts';
import { REFUSED_REDIRECTS } from './refused-redirects.ts';
import { printRows, writeOutputFiles } from './write-output.ts';

const EXAMPLES = `
Examples:
  sumi pages                                    the URLs of the site, in ./sumi.db
  sumi pages --broken                           what is broken; who links to it: sumi links --broken
  sumi pages --state Skipped                    what was skipped, and by which rule
  sumi pages --status 4xx --host example.com    filters combine
  sumi pages --changing-more-than 1/day         what changes often; also 3/week, 0.5
  sumi pages --not-crawled-for 7d               what was not visited for a week
  sumi pages --change changed,gone              by the outcome of the last visit
  sumi pages --format csv > pages.csv           every column; --bom for Excel
  sumi pages --format parquet --out pages.parquet    for DuckDB, Polars, pandas`;

type PagesFormat = ListFormat | 'parquet';
const FORMATS: readonly PagesFormat[] = ['table', 'json', 'jsonl', 'csv', 'parquet'];

const ALWAYS: readonly Column<PageRow>[] = [
  { title: 'state', value: (row) => row.state, colour: (row) => stateColour(row.state) },
  { title: 'status', value: (row) => row.status_code, align: 'right' },
];
const USUAL: readonly Column<PageRow>[] = [
  { title: 'depth', value: (row) => row.depth, align: 'right' },
  { title: 'words', value: (row) => row.word_count, align: 'right' },
];
const CHANGES: readonly Column<PageRow>[] = [
  { title: 'changes', value: (row) => row.changes_detected, align: 'right' },
  { title: 'a day', value: (row) => showRate(row.change_frequency), align: 'right' },
];
const LAST_VISIT: Column<PageRow> = { title: 'last visit', value: (row) => row.visited_at?.slice(0, 19) };
const WHICH: readonly Column<PageRow>[] = [
  { title: 'url', value: (row) => row.url, shrinksTo: 16, keepsEnd: true },
  // One column says what there is to say: the rule where one decided, else where it led, else what it is called.
  { title: 'title or reason', value: (row) => row.reason ?? arrowTo(row) ?? row.title, shrinksTo: 10 },
];

/** Where a store has several. */
const PROJECT: Column<PageRow> = { title: 'project', value: (row) => row.project, shrinksTo: 10 };

/** A list by change or age shows what it is sorted by. */
function columnsFor(
  { changingMoreThan, notCrawledFor }: PageFlags,
  hasProjects: boolean,
): readonly Column<PageRow>[] {
  const asked = [
    ...(changingMoreThan === undefined ? [] : CHANGES),
    ...(notCrawledFor === undefined ? [] : [LAST_VISIT]),
  ];
  const project = hasProjects ? [PROJECT] : [];
  return [...project, ...ALWAYS, ...(asked.length === 0 ? USUAL : asked), ...WHICH];
}

function arrowTo(row: PageRow): string | null {
  return row.final_url === null ? null : `→ ${row.final_url}`;
}

export function pagesCommand(): Command {
  const command = new Command('pages').description('list known URLs: state, reason, status, title, …');
  addReadFlags(command, true, [], FORMATS)
    .option('--out <FILE>', 'the file to write (default: -, standard output)')
    .addOption(
      new Option(
        '--broken',
        'only broken pages: the states DeadLink, Gone, Failed and Unreachable',
      ).conflicts('state'),
    )
    .option('--all', 'also skipped URLs of other sites, which are left out otherwise')
    .option('--state <NAME>', 'only these states, separated by commas', collect)
    .option('--status <CODE>', 'only these HTTP statuses, for example 404 or 4xx', collect)
    .option('--host <NAME>', 'only these hosts; NAME is every port, NAME:PORT that one', collect)
    .option(
      '--change <OUTCOME>',
      `only pages whose last visit was one of: ${VISIT_OUTCOMES.join(', ')}`,
      collect,
    )
    .option(
      '--changing-more-than <RATE>',
      'only pages that change more often, for example 1/day, 3/week or 0.5 (a day); the most frequent first',
    )
    .option(
      '--not-crawled-for <TIME>',
      'only pages that were not visited for so long, for example 90m, 12h, 7d or 2w; the oldest visit first',
    );
  return command.addHelpText('after', EXAMPLES).action(() => {
    const format = formatOf(command);
    const use = (reading: Reading) => listPages(command, format ?? reading.config.format, reading);
    return withReadSide(command, use, ['format']);
  });
}

async function listPages(command: Command, format: PagesFormat, reading: Reading): Promise<void> {
  const { side, project, limit } = reading;
  const flags = command.opts<PageFlags>();
  const { broken, state, status, host, change, changingMoreThan, notCrawledFor } = flags;
  const withoutExternal = leavesOutExternal(flags);
  const rows = side.pages({
    project,
    withoutExternal,
    states: broken === true ? BROKEN_STATES : state?.map(readState),
    statusCodes: status?.flatMap(readStatus),
    hosts: host?.map(readHost),
    changes: change?.map(readOutcome),
    changingMoreThan: changingMoreThan === undefined ? undefined : readChangeRate(changingMoreThan),
    notVisitedSince:
      notCrawledFor === undefined
        ? undefined
        : Date.now() - readLength(notCrawledFor, ownFlag('--not-crawled-for')),
    limit,
  });
  const hasProjects = await hasSeveralProjects(reading);
  const columns = columnsFor(flags, hasProjects);
  let hasRefused = false;
  async function* noted(): AsyncGenerator<PageRow> {
    for await (const row of rows) {
      hasRefused ||= isRefused(row);
      yield row;
    }
  }
  const listed = broken === true ? noted() : rows;
  const isFile = await writePages({ rows: listed, columns, format, out: flags.out }, command);
  if (hasRefused && format === 'table' && !isFile) process.stdout.write(REFUSED_REDIRECTS);
  const leftOut = withoutExternal ? await side.countExternal(project) : 0;
  if (leftOut === 0) return;
  // In what programs read there is no room for a note.
  const note = format === 'table' && !isFile ? process.stdout : process.stderr;
  note.write(`${showMany(leftOut, 'skipped URL')} of other sites left out: --all lists all.\n`);
}

interface PagesOutput {
  rows: AsyncIterable<PageRow>;
  columns: readonly Column<PageRow>[];
  format: PagesFormat;
  out?: string;
}

/** Whether it was a file. */
async function writePages({ rows, columns, format, out }: PagesOutput, command: Command): Promise<boolean> {
  const file = out === undefined || out === '-' ? null : out;
  const bom = wantsBom(command, format);
  if (format === 'parquet') {
    if (file === null) {
      const reason = 'parquet needs a file; expected --out FILE beside it';
      throw sumiError('usage', { reason, command: 'sumi pages' });
    }
    await writeOutputFiles([{ path: file, pieces: parquetPieces(rows, PAGE_COLUMNS) }]);
  } else {
    const list = { rows, format, names: PAGE_NAMES, columns, bom };
    if (file === null) {
      await printRows(list);
      return false;
    }
    await writeOutputFiles([{ path: file, pieces: rowPieces(list) }]);
  }
  process.stdout.write(`${printable(`written to ${file}`)}\n`);
  return true;
}

/** Of the flag, else of the ending of --out; undefined where the configuration decides. */
function formatOf(command: Command): PagesFormat | undefined {
  const given = command.getOptionValue('format') as string | undefined;
  const out = (command.getOptionValue('out') as string | undefined) ?? '';
  const ending = extname(out).toLowerCase();
  if (given === undefined) return ENDINGS[ending] ?? refuseOddEnding(out, ending);
  const found = FORMATS.find((known) => known === given);
  if (found !== undefined) return found;
  const expected = FORMATS.join(', ').replace(/, ([^,]*)$/, ' or $1');
  throw sumiError('bad-value', {
    option: '--format',
    value: JSON.stringify(given),
    place: 'flag --format',
    expected,
  });
}

const ENDINGS: Readonly<Record<string, PagesFormat>> = {
  '.txt': 'table',
  '.json': 'json',
  '.jsonl': 'jsonl',
  '.csv': 'csv',
  '.parquet': 'parquet',
};

/** A name like that promises what is not written; a date or a number at its end promises nothing. */
function refuseOddEnding(out: string, ending: string): undefined {
  if (!/^\.[a-z]/.test(ending)) return undefined;
  const expected = `a file that ends in ${Object.keys(ENDINGS).join(', ')}, or --format beside it`;
  throw sumiError('bad-flag', { ...ownFlag('--out'), value: out, expected });
}

/** Skipped URLs of other sites have no visits; who asks for a state or a host gets what was asked for. */
function leavesOutExternal({ all, ...flags }: PageFlags): boolean {
  const { broken, state, status, host, change, changingMoreThan, notCrawledFor } = flags;
  const asked = [broken, state, status, host, change, changingMoreThan, notCrawledFor];
  return all !== true && asked.every((flag) => flag === undefined);
}

interface PageFlags {
  broken?: true;
  all?: true;
  out?: string;
  state?: string[];
  status?: string[];
  host?: string[];
  change?: string[];
  changingMoreThan?: string;
  notCrawledFor?: string;
}

const ownFlag = (flag: string): OwnFlag => ({ flag, command: 'sumi pages' });

/** A whole address means its host and port. */
function readHost(text: string): string {
  const name = text.toLowerCase();
  if (/^https?:\/\/./.test(name) && URL.canParse(name)) return new URL(name).host;
  if (!/[\s/?#@]/.test(name)) return name;
  const expected = 'a host, as in example.com or example.com:8080';
  throw sumiError('bad-flag', { ...ownFlag('--host'), value: withoutCredentials(text), expected });
}

function readOutcome(text: string): VisitOutcome {
  const name = VISIT_OUTCOMES.find((known) => known === text.toLowerCase());
  if (name !== undefined) return name;
  const expected = `one of ${VISIT_OUTCOMES.join(', ')}`;
  throw sumiError('bad-flag', { ...ownFlag('--change'), value: text, expected });
}

/** Changes a day. */
function readChangeRate(text: string): number {
  const rate = /^0+(?:\.0+)?$/.test(text.trim()) ? 0 : readRate(text);
  if (rate !== null) return rate;
  throw sumiError('bad-flag', {
    ...ownFlag('--changing-more-than'),
    value: text,
    expected: 'a number of changes, as in 1/day, 3/week or 0.5 (a day)',
  });
}

function readState(text: string): PageState {
  const names = Object.keys(PAGE_STATES) as PageState[];
  const name = names.find((known) => known.toLowerCase() === text.toLowerCase());
  if (name !== undefined) return name;
  const expected = `a state such as ${nearestName(text, names)} (${names.join(', ')})`;
  throw sumiError('bad-flag', { ...ownFlag('--state'), value: text, expected });
}

function readStatus(text: string): number[] {
  if (/^[1-9]\d\d$/.test(text)) return [Number(text)];
  if (/^[1-9]xx$/i.test(text)) return Array.from({ length: 100 }, (_, i) => Number(text[0]) * 100 + i);
  const expected = 'an HTTP status such as 404, or 4xx for all that begin with 4';
  throw sumiError('bad-flag', { ...ownFlag('--status'), value: text, expected });
}

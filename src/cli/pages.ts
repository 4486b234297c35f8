/** `sumi pages`: every known URL with its state, the rule that decided, and what the last visit found. */
import { Command } from 'commander';
import { nearestName } from '../config/nearest-name.ts';
import { sumiError } from '../errors.ts';
import { PAGE_STATES, type PageState } from '../frontier/page-state.ts';
import type { Column } from '../report/render-table.ts';
import type { PageRow } from '../store/read-side.ts';
import { addReadFlags, collect, withReadSide } from './read-command.ts';
import { writeRows } from './write-rows.ts';

const EXAMPLES = `
Examples:
  sumi pages                                    all known URLs of ./sumi.db
  sumi pages --state DeadLink,Failed            what went wrong
  sumi pages --status 4xx --host example.com    filters combine
  sumi pages --format csv > pages.csv           every column`;

const NAMES: readonly (keyof PageRow)[] = [
  'url',
  'state',
  'reason',
  'status_code',
  'title',
  'h1',
  'depth',
  'content_type',
  'word_count',
  'content_hash',
  'final_url',
  'redirect_count',
  'etag',
  'last_modified',
  'visited_at',
  'error',
  'id',
  'project',
  'host',
  'fetch_url',
  'meta_description',
  'lang',
  'charset',
  'canonical',
  'noindex',
  'nofollow',
  'content_length',
  'simhash',
  'cache_control',
  'response_ms',
  'change',
  'priority',
  'attempts',
  'retry_at',
  'discovered_at',
  'discovered_run',
  'visited_run',
  'referrer_id',
  'redirect_to',
  'body_key',
];

const COLUMNS: readonly Column<PageRow>[] = [
  { title: 'state', value: (row) => row.state, colour: (row) => stateColour(row.state) },
  { title: 'status', value: (row) => row.status_code, align: 'right' },
  { title: 'depth', value: (row) => row.depth, align: 'right' },
  { title: 'words', value: (row) => row.word_count, align: 'right' },
  { title: 'url', value: (row) => row.url, shrinksTo: 16 },
  // One column says what there is to say: the rule where one decided, else where it led, else what it is called.
  { title: 'title or reason', value: (row) => row.reason ?? arrowTo(row) ?? row.title, shrinksTo: 10 },
];

function arrowTo(row: PageRow): string | null {
  return row.final_url === null ? null : `→ ${row.final_url}`;
}

export function stateColour(state: PageState): 'green' | 'yellow' | 'dim' | null {
  if (state === 'Processed') return 'green';
  if (state === 'Skipped' || state === 'Queued' || state === 'Discovered') return 'dim';
  return 'yellow';
}

export function pagesCommand(): Command {
  const command = new Command('pages').description('list known URLs: state, reason, status, title, …');
  addReadFlags(command, true)
    .option('--state <NAME>', 'only these states; comma-separated or repeated', collect)
    .option('--status <CODE>', 'only these HTTP statuses, as 404 or 4xx', collect)
    .option('--host <NAME>', 'only these hosts', collect);
  return command.addHelpText('after', EXAMPLES).action(() =>
    withReadSide(command, async ({ config, side, project, limit }) => {
      const { state, status, host } = command.opts<{
        state?: string[];
        status?: string[];
        host?: string[];
      }>();
      const rows = side.pages({
        project,
        states: state?.map(readState),
        statusCodes: status?.flatMap(readStatus),
        hosts: host?.map((name) => name.toLowerCase()),
        limit,
      });
      await writeRows({ rows, format: config.format, names: NAMES, columns: COLUMNS });
    }),
  );
}

function readState(text: string): PageState {
  const names = Object.keys(PAGE_STATES) as PageState[];
  const name = names.find((known) => known.toLowerCase() === text.toLowerCase());
  if (name !== undefined) return name;
  const expected = `a state such as ${nearestName(text, names)} (${names.join(', ')})`;
  throw sumiError('bad-value', { option: '--state', value: text, place: 'flag --state', expected });
}

function readStatus(text: string): number[] {
  if (/^[1-9]\d\d$/.test(text)) return [Number(text)];
  if (/^[1-9]xx$/i.test(text)) return Array.from({ length: 100 }, (_, i) => Number(text[0]) * 100 + i);
  const expected = 'an HTTP status such as 404, or 4xx for all that begin with 4';
  throw sumiError('bad-value', { option: '--status', value: text, place: 'flag --status', expected });
}

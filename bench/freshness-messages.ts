// The messages of the freshness simulator, read and checked: a line that is none is told by its number and what is wrong.

export interface PageMessage {
  type: 'page';
  id: number;
  host: number;
  depth: number;
  weight: number;
  lastFetch: number | null;
  lastModified: number | null;
}

export type Message =
  | { type: 'init'; pages: number; budgetPerDay: number; hostCapPerTick: number | null }
  | PageMessage
  | { type: 'ready' | 'bye' }
  | { type: 'tick'; t: number; k: number; signals: [id: number, lastModified: number][] }
  | { type: 'results'; t: number; results: [id: number, changed: 0 | 1, lastModified: number | null][] };

/** What the other side got wrong, in words. */
export class ProtocolError extends Error {}

const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
/** A field that is left out is one that says nothing. */
const orNone = (check: (value: unknown) => boolean) => (value: unknown) => value === null || check(value);

type Fields = Record<string, unknown>;
type Check = (value: unknown, pages: number) => boolean;

/** Fields of each type: how they are checked, and what is expected. Those with `none` may be left out. */
const FIELDS: Record<
  Message['type'],
  Record<string, { check: Check; expected: string; none?: () => unknown }>
> = {
  init: {
    pages: { check: isCount, expected: 'a whole number' },
    budgetPerDay: { check: isNumber, expected: 'a number' },
    hostCapPerTick: { check: orNone(isCount), expected: 'a whole number or null', none: () => null },
  },
  page: {
    id: { check: isCount, expected: 'a whole number' },
    host: { check: isCount, expected: 'a whole number' },
    depth: { check: isNumber, expected: 'a number' },
    weight: { check: isNumber, expected: 'a number' },
    lastFetch: { check: orNone(isNumber), expected: 'a number or null', none: () => null },
    lastModified: { check: orNone(isNumber), expected: 'a number or null', none: () => null },
  },
  ready: {},
  bye: {},
  tick: {
    t: { check: isNumber, expected: 'a number' },
    k: { check: isCount, expected: 'a whole number' },
    signals: {
      check: listOf((row, pages) => row.length === 2 && isPage(row[0], pages) && isNumber(row[1])),
      expected: 'a list of [id of a page, days]',
      none: () => [],
    },
  },
  results: {
    t: { check: isNumber, expected: 'a number' },
    results: {
      check: listOf(
        ([page, changed, modified = null], pages) =>
          isPage(page, pages) && (changed === 0 || changed === 1) && orNone(isNumber)(modified),
      ),
      expected: 'a list of [id of a page, 0 or 1, days or null]',
    },
  },
};

function listOf(check: (row: unknown[], pages: number) => boolean): Check {
  return (value, pages) =>
    Array.isArray(value) && value.every((row) => Array.isArray(row) && check(row, pages));
}

function isPage(id: unknown, pages: number): boolean {
  return isCount(id) && id < pages;
}

/** Reads messages in the order they come, which the protocol says. */
export function createMessageReader(): (line: string) => Message {
  let stage: 'start' | 'pages' | 'ticks' = 'start';
  let wanted = 0;
  let pages = 0;
  return (line) => {
    const message = parseMessage(line, pages);
    const refuse = (why: string) => new ProtocolError(`is a ${message.type} that ${why}`);
    if (message.type === 'bye') return message;
    if (message.type === 'init') {
      if (stage !== 'start') throw refuse('came twice');
      [stage, wanted] = ['pages', message.pages];
    } else if (stage === 'start') throw refuse('came before init');
    else if (message.type === 'page') {
      if (stage !== 'pages') throw refuse('came after ready');
      if (message.id !== pages) throw refuse(`has the id ${message.id}; expected ${pages}`);
      pages++;
    } else if (message.type === 'ready') {
      if (stage !== 'pages') throw refuse('came twice');
      if (pages !== wanted) throw refuse(`came after ${pages} of ${wanted} pages`);
      stage = 'ticks';
    } else if (stage !== 'ticks') throw refuse('came before ready');
    return message;
  };
}

function parseMessage(line: string, pages: number): Message {
  let found: unknown;
  try {
    found = JSON.parse(line);
  } catch {
    throw new ProtocolError('is not JSON');
  }
  if (typeof found !== 'object' || found === null || Array.isArray(found))
    throw new ProtocolError('is not a JSON object');
  const message = found as Fields;
  const { type } = message;
  if (typeof type !== 'string' || !Object.hasOwn(FIELDS, type)) {
    const known = Object.keys(FIELDS).join(', ');
    throw new ProtocolError(`has the type ${JSON.stringify(type) ?? 'none'}; expected one of ${known}`);
  }
  for (const [name, { check, expected, none }] of Object.entries(FIELDS[type as Message['type']])) {
    const value = message[name] ?? none?.();
    if (!check(value, pages))
      throw new ProtocolError(`has no good ${name} in its ${type}; expected ${expected}`);
    message[name] = value;
  }
  return message as unknown as Message;
}

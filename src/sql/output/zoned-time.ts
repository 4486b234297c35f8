/**
 * TIMESTAMP WITH TIME ZONE as DuckDB casts it to text: in the session's TimeZone, with the offset that this zone had at
 * that time. The driver knows only one offset for all times. A zone that Node does not know counts as UTC.
 */
import { DuckDBTimestampTZValue, DuckDBTimestampValue } from '@duckdb/node-api';
import { timestampText } from './temporal-text.ts';

const MICROS_A_SECOND = 1_000_000n;
/** Offsets change only at whole quarters of an hour. */
const MICROS_A_QUARTER = 900n * MICROS_A_SECOND;
/** Of the calendar that JavaScript knows. */
const LAST_DATE_MS = 8.64e15;
const MOST_KEPT_OFFSETS = 10_000;

export type ZonedText = (value: DuckDBTimestampTZValue) => string;

export function createZonedText(timeZone = 'UTC'): ZonedText {
  // Made when it is needed: it takes longer than a short statement.
  let format: Intl.DateTimeFormat | null | undefined;
  const kept = new Map<bigint, number>();

  function offsetSeconds(micros: bigint): number {
    if (format === undefined) format = formatFor(timeZone);
    if (format === null) return 0;
    const quarter = micros / MICROS_A_QUARTER - (micros % MICROS_A_QUARTER < 0n ? 1n : 0n);
    const known = kept.get(quarter);
    if (known !== undefined) return known;
    const ms = Number(quarter * 900_000n);
    const seconds = readOffset(format, Math.max(-LAST_DATE_MS, Math.min(LAST_DATE_MS, ms)));
    if (kept.size >= MOST_KEPT_OFFSETS) kept.clear();
    kept.set(quarter, seconds);
    return seconds;
  }

  return ({ micros }) => {
    const { PosInf, NegInf } = DuckDBTimestampTZValue;
    if (micros === PosInf.micros || micros === NegInf.micros) return micros > 0n ? 'infinity' : '-infinity';
    const seconds = offsetSeconds(micros);
    const local = new DuckDBTimestampValue(micros + BigInt(seconds) * MICROS_A_SECOND);
    return timestampText(local) + offsetText(seconds);
  };
}

function formatFor(timeZone: string): Intl.DateTimeFormat | null {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
  } catch {
    return null;
  }
}

/** From "GMT", "GMT+05:30" or, before there were zones, "GMT+00:53:28". */
function readOffset(format: Intl.DateTimeFormat, ms: number): number {
  const name = format.formatToParts(ms).find(({ type }) => type === 'timeZoneName')?.value ?? '';
  const [, sign, hours, minutes, seconds] = /([+-])(\d+):(\d+)(?::(\d+))?/.exec(name) ?? [];
  if (sign === undefined) return 0;
  const size = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds ?? 0);
  return sign === '-' ? -size : size;
}

/** Without the seconds, and without minutes where there are none. */
function offsetText(seconds: number): string {
  const minutes = Math.floor(Math.abs(seconds) / 60);
  const pad = (n: number) => String(n).padStart(2, '0');
  const rest = minutes % 60 === 0 ? '' : `:${pad(minutes % 60)}`;
  return `${seconds < 0 ? '-' : '+'}${pad(Math.floor(minutes / 60))}${rest}`;
}

/**
 * DATE and TIMESTAMP as DuckDB casts them to text. Times of our age, which are most, take a short way; for all
 * others it is the driver that counts days, and what it gets wrong is put right: the infinite dates, and the year
 * before year 1.
 */
import { DuckDBDateValue, type DuckDBTimestampValue } from '@duckdb/node-api';

const MS_A_DAY = 86_400_000;
/** 0001-01-01 and 9999-12-31: between them a year has four digits and no "(BC)". */
const FIRST_DAY = -719_162;
const LAST_DAY = 2_932_896;
/** In this range a number holds microseconds exactly. */
const MOST_EXACT_MICROS = BigInt(Number.MAX_SAFE_INTEGER);

export function dateText(date: DuckDBDateValue): string {
  const { days } = date;
  if (days >= FIRST_DAY && days <= LAST_DAY) return new Date(days * MS_A_DAY).toISOString().slice(0, 10);
  if (days === DuckDBDateValue.PosInf.days) return 'infinity';
  return days === DuckDBDateValue.NegInf.days ? '-infinity' : yearBefore(date.toString());
}

export function timestampText(timestamp: DuckDBTimestampValue): string {
  if (timestamp.micros > MOST_EXACT_MICROS || timestamp.micros < -MOST_EXACT_MICROS)
    return otherTimeText(timestamp);
  const micros = Number(timestamp.micros);
  const seconds = Math.floor(micros / 1_000_000);
  const iso = new Date(seconds * 1000).toISOString();
  const text = `${iso.slice(0, 10)} ${iso.slice(11, 19)}`;
  const rest = micros - seconds * 1_000_000;
  return rest === 0 ? text : `${text}.${String(rest).padStart(6, '0').replace(/0+$/, '')}`;
}

/** Of the timestamps that are rare: in seconds, milliseconds, nanoseconds, or far away. */
export function otherTimeText(value: object): string {
  return yearBefore(String(value));
}

function yearBefore(text: string): string {
  return text.replace(/^0000-(\d\d-\d\d)/, '0001-$1 (BC)');
}

/**
 * The UUID by which programs know a page: version 8 of RFC 9562, made of its project's UUID and its number in the store. It is
 * never stored: the number is read back from it. Of another project, or made up, it leads to nothing.
 *
 * Its first 60 free bits are a check over the project and the number, its last 62 the number, mixed with the project, so that
 * neighbours do not look alike.
 */
import { createHash } from 'node:crypto';

const PAGE_UID = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const FREE_BITS = (1n << 62n) - 1n;
const VARIANT = 2n << 62n;

/** `page`: a whole number from 0 up to 2^53 - 1. */
export function pageUid(projectUid: string, page: number): string {
  if (!Number.isSafeInteger(page) || page < 0) throw new RangeError(`no page has the number ${page}`);
  const project = projectUid.toLowerCase();
  const check = checkOf(project, page);
  const low = (VARIANT | (BigInt(page) ^ mixOf(project, check))).toString(16);
  return [
    ...[check.slice(0, 8), check.slice(8, 12), `8${check.slice(12)}`],
    ...[low.slice(0, 4), low.slice(4)],
  ].join('-');
}

/** Null where it is no page of this project. */
export function pageNumberOf(projectUid: string, uid: string): number | null {
  const text = uid.toLowerCase();
  if (!PAGE_UID.test(text)) return null;
  const project = projectUid.toLowerCase();
  const digits = text.replaceAll('-', '');
  const check = digits.slice(0, 12) + digits.slice(13, 16);
  const page = Number((BigInt(`0x${digits.slice(16)}`) & FREE_BITS) ^ mixOf(project, check));
  return Number.isSafeInteger(page) && checkOf(project, page) === check ? page : null;
}

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');

/** 60 bits in hex. */
const checkOf = (project: string, page: number) => hashOf(`${project} ${page}`).slice(0, 15);

const mixOf = (project: string, check: string) =>
  BigInt(`0x${hashOf(`${project}/${check}`).slice(0, 16)}`) & FREE_BITS;

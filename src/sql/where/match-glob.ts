/**
 * GLOB as DuckDB has it, byte by byte: `*` is any bytes, `?` one byte, `[a-z]` and `[!a-z]` one byte of a set, a backslash
 * makes the next byte itself. A set without an end, or a backslash at the end, matches nothing.
 */
import { isAscii } from './fold-case.ts';
import type { TextTest } from './match-like.ts';

/** A byte, any byte, any bytes, or those that have a true at their place. */
type Part = number | 'one' | 'any' | readonly boolean[];

/** Null for a pattern beyond ASCII: how bytes from 0x80 on are ordered depends on the machine. */
export function compileGlob(pattern: string): TextTest | null {
  if (!isAscii(pattern)) return null;
  const parts = partsOf(pattern);
  if (parts === null) return () => false;
  return (text) => matches(isAscii(text) ? text : Buffer.from(text).toString('latin1'), parts);
}

/** Null for a pattern that matches nothing. */
function partsOf(pattern: string): Part[] | null {
  const parts: Part[] = [];
  for (let at = 0; at < pattern.length; at++) {
    const letter = pattern[at];
    if (letter === '*') {
      if (parts.at(-1) !== 'any') parts.push('any');
    } else if (letter === '?') parts.push('one');
    else if (letter === '[') {
      const found = setAt(pattern, at + 1);
      if (found === null) return null;
      parts.push(found.set);
      at = found.end;
    } else {
      if (letter === '\\') at++;
      if (at === pattern.length) return null;
      parts.push(pattern.charCodeAt(at));
    }
  }
  return parts;
}

/** `end`: the place of the closing bracket. One that comes first is a member. */
function setAt(pattern: string, start: number): { set: boolean[]; end: number } | null {
  const isInverted = pattern[start] === '!';
  const set = new Array<boolean>(256).fill(isInverted);
  const first = isInverted ? start + 1 : start;
  for (let at = first; at < pattern.length; at++) {
    if (pattern[at] === ']' && at > first) return { set, end: at };
    const from = pattern.charCodeAt(at);
    let to = from;
    if (pattern[at + 1] === '-') {
      at += 2;
      // Without one the set has no end.
      if (at >= pattern.length) return null;
      to = pattern.charCodeAt(at);
    }
    for (let byte = from; byte <= to; byte++) set[byte] = !isInverted;
  }
  return null;
}

/** `bytes`: one character each. */
function matches(bytes: string, parts: readonly Part[]): boolean {
  let at = 0;
  let part = 0;
  let anyPart = -1;
  let anyAt = 0;
  while (at < bytes.length) {
    const wanted = parts[part];
    if (wanted === 'any') {
      anyPart = part++;
      anyAt = at;
    } else if (wanted !== undefined && isMember(bytes.charCodeAt(at), wanted)) {
      at++;
      part++;
    } else if (anyPart === -1) return false;
    else {
      part = anyPart + 1;
      at = ++anyAt;
    }
  }
  while (parts[part] === 'any') part++;
  return part === parts.length;
}

function isMember(byte: number, part: Exclude<Part, 'any'>): boolean {
  if (part === 'one') return true;
  return typeof part === 'number' ? part === byte : part[byte];
}

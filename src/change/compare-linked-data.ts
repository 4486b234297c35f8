/**
 * Compares the structured data of two visits as data: the order of keys, of blocks and of lists means nothing (JSON-LD
 * lists are sets), nor does white space. `dateModified` and `sdDatePublished` alone are no change, because many sites
 * write the time of the request there. Data that is not JSON, or is nested too deeply, is compared as text. Promises a
 * result for any two texts.
 */
import { type CutValues, cutValues } from './cut-values.ts';
import { comparable } from './query-tokens.ts';

/** One value before and after, each with its place: `offers.price: 9.99`. */
export type DataDifference = CutValues;

const CLOCKS = new Set(['dateModified', 'sdDatePublished']);
const DEEPEST = 64;
const MOST_DIFFERENCES = 40;
const LONGEST_LEAF = 300;

export function compareLinkedData(past: string | null, found: string | null): DataDifference[] {
  if (past === found) return [];
  const before = readBlocks(past);
  const after = readBlocks(found);
  if (canonical(before) === canonical(after)) return [];
  const removed = leavesOf(before);
  const added = leavesOf(after);
  for (const [leaf, count] of removed) {
    const both = Math.min(count, added.get(leaf) ?? 0);
    if (both === 0) continue;
    take(removed, leaf, both);
    take(added, leaf, both);
  }
  const differences = pairUp([...removed.keys()], [...added.keys()]);
  // The same values in another arrangement.
  if (differences.length === 0) return [cutValues(canonical(before), canonical(after), LONGEST_LEAF)];
  if (differences.length <= MOST_DIFFERENCES) return differences;
  const rest = `… ${differences.length - MOST_DIFFERENCES} more`;
  return [...differences.slice(0, MOST_DIFFERENCES), { before: rest, after: rest }];
}

function take(counts: Map<string, number>, leaf: string, by: number): void {
  const left = counts.get(leaf)! - by;
  if (left === 0) counts.delete(leaf);
  else counts.set(leaf, left);
}

/** These values in a block that cannot be read. */
const CLOCK_VALUES = /("(?:dateModified|sdDatePublished)"\s*:\s*)"[^"]*"/g;

/** A block that cannot be read (inside a comment, a comma too many) stays text. */
function readBlocks(data: string | null): unknown[] {
  if (data === null) return [];
  const blocks = data.split('\n').filter((block) => block.trim() !== '');
  return blocks.map((block) => {
    if (isTooDeep(block)) return asText(block);
    try {
      return withoutClocks(JSON.parse(block));
    } catch (error) {
      if (error instanceof SyntaxError) return asText(block);
      throw error;
    }
  });
}

const asText = (block: string) => block.replace(CLOCK_VALUES, '$1""');

/** Brackets in strings count, too: then a block is compared as text without need. */
function isTooDeep(block: string): boolean {
  let depth = 0;
  for (let i = 0; i < block.length; i++) {
    const code = block.charCodeAt(i);
    if (code === 0x5b || code === 0x7b) {
      if (++depth > DEEPEST) return true;
    } else if (code === 0x5d || code === 0x7d) depth--;
  }
  return false;
}

function withoutClocks(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutClocks);
  if (typeof value === 'string') {
    const text = value.replace(/\s+/g, ' ').trim();
    return /^(?:https?:|\/)/i.test(text) ? comparable(text) : text;
  }
  if (typeof value !== 'object' || value === null) return value;
  // A Map, because a page may have any key, also __proto__.
  const kept = new Map<string, unknown>();
  for (const [key, inner] of Object.entries(value)) if (!CLOCKS.has(key)) kept.set(key, withoutClocks(inner));
  return kept;
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).sort().join(',')}]`;
  if (!(value instanceof Map)) return JSON.stringify(value);
  const pairs = [...value].map(([key, inner]) => `${JSON.stringify(key)}:${canonical(inner)}`);
  return `{${pairs.sort().join(',')}}`;
}

/** Each value with its place, and how often it occurs there. */
function leavesOf(blocks: readonly unknown[]): Map<string, number> {
  const leaves = new Map<string, number>();
  const visit = (value: unknown, place: string): void => {
    if (Array.isArray(value)) {
      for (const inner of value) visit(inner, place);
    } else if (value instanceof Map) {
      for (const [key, inner] of value) visit(inner, place === '' ? key : `${place}.${key}`);
    } else {
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      const leaf = place === '' ? text : `${place}: ${text}`;
      leaves.set(leaf, (leaves.get(leaf) ?? 0) + 1);
    }
  };
  for (const block of blocks) visit(block, '');
  return leaves;
}

const placeOf = (leaf: string) => leaf.slice(0, Math.max(0, leaf.indexOf(': ')));

/** Pairs a value that went with a value that came at the same place. */
export function pairUp(removed: readonly string[], added: readonly string[]): DataDifference[] {
  const waiting = new Map<string, string[]>();
  for (const leaf of added) {
    const place = placeOf(leaf);
    const others = waiting.get(place);
    if (others === undefined) waiting.set(place, [leaf]);
    else others.push(leaf);
  }
  const differences: DataDifference[] = removed.map((leaf) => {
    const place = placeOf(leaf);
    const head = place === '' ? '' : `${place}: `;
    return cutValues(leaf, waiting.get(place)?.shift() ?? null, LONGEST_LEAF, head);
  });
  for (const leaves of waiting.values())
    for (const leaf of leaves) differences.push(cutValues(null, leaf, LONGEST_LEAF));
  return differences;
}

/**
 * The pseudo-classes that ask for an element's place among its siblings. They replace those of css-select, which count the
 * siblings again for each element: quadratic on a page with 100,000 rows. Here each parent is counted once.
 * The values they are called with have been checked by css-select before.
 */
import type { PageElement } from './page-tree.ts';

type Matches = (element: PageElement) => boolean;
/** Places among the siblings that count, from 1, and how many these are. */
type Placed = (element: PageElement) => { place: number; count: number } | null;

export type SiblingPseudos = Record<string, (element: PageElement, value?: string | null) => boolean>;

const NTH_OF = /^(.+?)\s+of\s+(.+)$/is;

/** `compile` makes a test of the selector after `of`. */
export function createSiblingPseudos(compile: (selector: string) => Matches): SiblingPseudos {
  const ofType = createPlaces((element) => element.name);
  const ofAll: Placed = (element) => ({ place: element.place, count: element.parent?.elementCount ?? 1 });
  const places = new Map<string, Placed>();
  const steps = new Map<string, Step>();

  function stepOf(text: string): Step {
    const step = steps.get(text) ?? readStep(text);
    steps.set(text, step);
    return step;
  }

  function placedBy(selector: string): Placed {
    let placed = places.get(selector);
    if (placed === undefined) {
      const matches = compile(selector);
      placed = createPlaces((element) => (matches(element) ? '' : null));
      places.set(selector, placed);
    }
    return placed;
  }

  function nth(isFromEnd: boolean, isOfType: boolean) {
    const all = isOfType ? ofType : ofAll;
    // css-select looks at the number of parameters: these have a value.
    return (element: PageElement, value: string | null | undefined): boolean => {
      const text = (value ?? '').trim();
      const parts = isOfType ? null : NTH_OF.exec(text);
      const found = (parts === null ? all : placedBy(parts[2].trim()))(element);
      if (found === null) return false;
      return fits(
        stepOf(parts === null ? text : parts[1]),
        isFromEnd ? found.count - found.place + 1 : found.place,
      );
    };
  }

  const first = (placed: Placed) => (element: PageElement) => placed(element)?.place === 1;
  const last = (placed: Placed) => (element: PageElement) => {
    const found = placed(element);
    return found !== null && found.place === found.count;
  };
  const only = (placed: Placed) => (element: PageElement) => placed(element)?.count === 1;

  return {
    'nth-child': nth(false, false),
    'nth-last-child': nth(true, false),
    'nth-of-type': nth(false, true),
    'nth-last-of-type': nth(true, true),
    'first-child': first(ofAll),
    'last-child': last(ofAll),
    'only-child': only(ofAll),
    'first-of-type': first(ofType),
    'last-of-type': last(ofType),
    'only-of-type': only(ofType),
  };
}

/** Elements of one key are counted together; null: not at all. Counts all children of a parent once. */
function createPlaces(keyOf: (element: PageElement) => string | null): Placed {
  const counted = new WeakMap<PageElement, { places: Int32Array; counts: Map<string, number> }>();

  function count(parent: PageElement) {
    const places = new Int32Array(parent.elementCount + 1);
    const counts = new Map<string, number>();
    for (const child of parent.children) {
      if (child.kind !== 'element') continue;
      const key = keyOf(child);
      if (key === null) continue;
      const place = (counts.get(key) ?? 0) + 1;
      counts.set(key, place);
      places[child.place] = place;
    }
    const result = { places, counts };
    counted.set(parent, result);
    return result;
  }

  return (element) => {
    const key = keyOf(element);
    if (key === null) return null;
    const { parent } = element;
    if (parent === null) return { place: 1, count: 1 };
    const { places, counts } = counted.get(parent) ?? count(parent);
    return { place: places[element.place], count: counts.get(key)! };
  };
}

/** `an+b`. */
interface Step {
  a: number;
  b: number;
}

function readStep(text: string): Step {
  const value = text.toLowerCase().replace(/\s+/g, '');
  if (value === 'odd') return { a: 2, b: 1 };
  if (value === 'even') return { a: 2, b: 0 };
  const parts = /^([+-]?\d*)n([+-]\d+)?$/.exec(value);
  if (parts === null) return { a: 0, b: Number.parseInt(value, 10) };
  const [, factor, offset] = parts;
  const a = factor === '' || factor === '+' ? 1 : factor === '-' ? -1 : Number.parseInt(factor, 10);
  return { a, b: offset === undefined ? 0 : Number.parseInt(offset, 10) };
}

function fits({ a, b }: Step, place: number): boolean {
  if (a === 0) return place === b;
  const steps = (place - b) / a;
  return steps >= 0 && Number.isInteger(steps);
}

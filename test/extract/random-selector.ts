/** Selectors as data: written as CSS, as XPath, and judged by a plain reading over parse5's tree. */
import { type DefaultTreeAdapterTypes, parse } from 'parse5';
import type { SeededRandom } from '../seeded-random.ts';
import { CLASSES, TAGS, VALUES } from './random-page.ts';

export type Simple =
  | { kind: 'tag' | 'class' | 'id' | 'has'; name: string }
  | { kind: 'attribute'; name: string; test: '' | '=' | '~=' | '^=' | '*=' | '$='; value: string }
  | { kind: 'nth'; a: number; b: number; isLast: boolean; isOfType: boolean }
  | { kind: 'not'; simple: Simple };

export interface Compound {
  /** How it stands to the compound before it. */
  combinator: ' ' | '>' | '+' | '~';
  parts: Simple[];
}

export function randomSelector(random: SeededRandom): Compound[] {
  const often = () => random.below(3) > 0;
  function simple(): Simple {
    switch (random.below(8)) {
      case 0:
        return { kind: 'class', name: random.pick(CLASSES) };
      case 1:
        return { kind: 'id', name: `n${random.below(30)}` };
      case 2: {
        const name = random.pick(['data-v', 'class', 'id', 'title']);
        const value = random.pick(VALUES);
        const test = random.pick(['', '=', '~=', '^=', '*=', '$='] as const);
        // css-select lets an empty word match an empty value. In CSS it matches nothing.
        return { kind: 'attribute', name, test: test === '~=' && value === '' ? '' : test, value };
      }
      case 3:
      case 4:
        return {
          kind: 'nth',
          a: random.below(5) - 1,
          b: random.below(6) - 1,
          isLast: !often(),
          isOfType: !often(),
        };
      case 5:
        return { kind: 'not', simple: simple() };
      case 6:
        return { kind: 'has', name: random.pick(TAGS) };
      default:
        return { kind: 'class', name: random.pick(CLASSES) };
    }
  }
  return Array.from({ length: 1 + random.below(3) }, () => {
    const parts: Simple[] = often() ? [{ kind: 'tag', name: random.pick(TAGS) }] : [];
    while (parts.length === 0 || !often()) parts.push(simple());
    return { combinator: random.pick([' ', ' ', '>', '+', '~'] as const), parts };
  });
}

const quoted = (value: string) => `"${value.replace(/["\\]/g, '\\$&')}"`;

function cssOf(simple: Simple): string {
  switch (simple.kind) {
    case 'tag':
      return simple.name;
    case 'class':
      return `.${simple.name}`;
    case 'id':
      return `#${simple.name}`;
    case 'has':
      return `:has(${simple.name})`;
    case 'attribute':
      return `[${simple.name}${simple.test === '' ? '' : simple.test + quoted(simple.value)}]`;
    case 'nth': {
      const { a, b } = simple;
      return `:nth-${simple.isLast ? 'last-' : ''}${simple.isOfType ? 'of-type' : 'child'}(${a}n${b < 0 ? b : `+${b}`})`;
    }
    case 'not':
      return `:not(${cssOf(simple.simple)})`;
  }
}

export function writeCss(selector: readonly Compound[]): string {
  return selector
    .map(
      ({ combinator, parts }, i) =>
        (i === 0 ? '' : combinator === ' ' ? ' ' : ` ${combinator} `) + parts.map(cssOf).join(''),
    )
    .join('');
}

type Element = DefaultTreeAdapterTypes.Element;

function elementsIn(node: DefaultTreeAdapterTypes.ParentNode): Element[] {
  return node.childNodes.filter((child): child is Element => 'tagName' in child);
}

function inside(node: DefaultTreeAdapterTypes.ParentNode): Element[] {
  return elementsIn(node).flatMap((element) => [element, ...inside(element)]);
}

const attribute = (element: Element, name: string) => element.attrs.find((one) => one.name === name)?.value;

function fits(element: Element, simple: Simple): boolean {
  switch (simple.kind) {
    case 'tag':
      return element.tagName === simple.name;
    case 'class':
      return (attribute(element, 'class') ?? '').split(/\s+/).includes(simple.name);
    case 'id':
      return attribute(element, 'id') === simple.name;
    case 'has':
      return inside(element).some(({ tagName }) => tagName === simple.name);
    case 'attribute':
      return fitsAttribute(attribute(element, simple.name), simple);
    case 'nth': {
      const siblings = element.parentNode === null ? [element] : elementsIn(element.parentNode);
      const counted = simple.isOfType
        ? siblings.filter(({ tagName }) => tagName === element.tagName)
        : siblings;
      const place = simple.isLast ? counted.length - counted.indexOf(element) : counted.indexOf(element) + 1;
      for (let n = 0; n <= 1000; n++) if (simple.a * n + simple.b === place) return true;
      return false;
    }
    case 'not':
      return !fits(element, simple.simple);
  }
}

function fitsAttribute(found: string | undefined, { test, value }: Simple & { kind: 'attribute' }): boolean {
  if (found === undefined || test === '') return found !== undefined;
  if (test === '=') return found === value;
  if (value === '') return false;
  if (test === '~=') return !/\s/.test(value) && found.split(/\s+/).includes(value);
  if (test === '^=') return found.startsWith(value);
  return test === '$=' ? found.endsWith(value) : found.includes(value);
}

function matches(element: Element, selector: readonly Compound[]): boolean {
  const last = selector.at(-1)!;
  if (!last.parts.every((part) => fits(element, part))) return false;
  if (selector.length === 1) return true;
  const before = selector.slice(0, -1);
  const parent = element.parentNode !== null && 'tagName' in element.parentNode ? element.parentNode : null;
  const siblings = parent === null ? [] : elementsIn(parent);
  const earlier = siblings.slice(0, siblings.indexOf(element));
  if (last.combinator === '>') return parent !== null && matches(parent, before);
  if (last.combinator === '+') return earlier.length > 0 && matches(earlier.at(-1)!, before);
  if (last.combinator === '~') return earlier.some((one) => matches(one, before));
  for (
    let up: Element | null = parent;
    up !== null;
    up = up.parentNode !== null && 'tagName' in up.parentNode ? up.parentNode : null
  )
    if (matches(up, before)) return true;
  return false;
}

/** The ids of the elements that match, in the order of the page. */
export function judgeSelector(html: string, selector: readonly Compound[]): string[] {
  return inside(parse(html, { scriptingEnabled: false }))
    .filter((element) => matches(element, selector))
    .map((element) => attribute(element, 'id') ?? element.tagName);
}

const WORDS_OF = (name: string) => `concat(" ", normalize-space(@${name}), " ")`;
const literal = (text: string) => (text.includes('"') ? `'${text}'` : `"${text}"`);

/** What XPath 1.0 can say; null for what it says in another way. */
export function writeXpath(selector: readonly Compound[]): string | null {
  let path = '';
  for (const { combinator, parts } of selector) {
    const tests = parts.map(xpathOf);
    if (tests.includes(null)) return null;
    const axis = path === '' || combinator === ' ' ? '//' : combinator === '>' ? '/' : null;
    if (axis === null && combinator === '+') path += '/following-sibling::*[1]';
    else if (axis === null) path += '/following-sibling::*';
    else path += `${axis}*`;
    path += tests.map((test) => `[${test}]`).join('');
  }
  return path;
}

function xpathOf(simple: Simple): string | null {
  switch (simple.kind) {
    case 'tag':
      return `self::${simple.name}`;
    case 'class':
      return `contains(${WORDS_OF('class')}, " ${simple.name} ")`;
    case 'id':
      return `@id="${simple.name}"`;
    case 'has':
      return `.//${simple.name}`;
    case 'attribute': {
      const { name, test, value } = simple;
      if (test === '') return `@${name}`;
      if (test === '=') return `@${name}=${literal(value)}`;
      if (value === '') return 'false()';
      if (test === '^=') return `starts-with(@${name}, ${literal(value)})`;
      return test === '*=' ? `contains(@${name}, ${literal(value)})` : null;
    }
    case 'nth': {
      const { a, b, isLast, isOfType } = simple;
      if (isOfType) return null;
      const place = `(count(${isLast ? 'following' : 'preceding'}-sibling::*) + 1)`;
      if (a === 0) return `${place} = ${b}`;
      return `(${place} - ${b}) mod ${a} = 0 and (${place} - ${b}) div ${a} >= 0`;
    }
    case 'not': {
      const inner = xpathOf(simple.simple);
      return inner === null ? null : `not(${inner})`;
    }
  }
}

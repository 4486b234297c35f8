// Requests made of an OpenAPI file: those that fit its schemas, and those that do not. What a schema cannot say, such as which
// host is there, comes from `known`. Nothing is sent here.
import fc, { type Arbitrary } from 'fast-check';
import type { Loose } from './start-serving.ts';

export interface Operation {
  method: string;
  path: string;
  operation: Loose;
}

/** What a program would know when it makes the request. */
export interface Known {
  /** Values of the path's parameters that are there. */
  ids: Record<string, string>;
  /** Ids of another project, and of nobody. */
  strangers: string[];
  /** Good values by the name of the field or parameter. */
  values: Record<string, unknown[]>;
}

export interface MadeRequest {
  method: string;
  /** As it is sent, query included. */
  path: string;
  headers: Record<string, string>;
  body?: string | Buffer;
}

interface Draft {
  ids: Record<string, string>;
  /** As they stand in the address, encoded. */
  query: [string, string][];
  headers: Record<string, string>;
  body?: unknown;
}

type Mutation = Arbitrary<(draft: Draft) => Draft & { raw?: string | Buffer }>;

const MOST_OPTIONAL = 4;

export function operationsOf(document: Loose): Operation[] {
  return Object.entries<Loose>(document.paths).flatMap(([path, verbs]) =>
    Object.entries<Loose>(verbs).map(([method, operation]) => ({
      method: method.toUpperCase(),
      ...{ path, operation },
    })),
  );
}

/** Requests that fit the schemas. */
export function validRequest(document: Loose, one: Operation, known: Known): Arbitrary<MadeRequest> {
  return validDraft(document, one, known).map((draft) => build(one, draft));
}

/** Requests of which at least one part is not as it should be. */
export function brokenRequest(document: Loose, one: Operation, known: Known): Arbitrary<MadeRequest> {
  const mutations = [
    ...mutatePath(known),
    ...mutateQuery(one),
    ...mutateHeaders(),
    ...(bodySchema(one) === undefined ? [] : mutateBody()),
  ];
  const some = fc.array(fc.oneof(...mutations), { minLength: 1, maxLength: 2 });
  return fc.tuple(validDraft(document, one, known), some).map(([draft, changes]) => {
    let broken: Draft & { raw?: string | Buffer } = draft;
    for (const change of changes) broken = Object.assign({}, broken, change(broken));
    return build(one, broken, broken.raw);
  });
}

/** A request that is given: `search` as it stands in the address. */
export function exampleRequest(
  one: Operation,
  { ids }: Known,
  { search, body }: { search?: string; body?: object },
): MadeRequest {
  const made = build(one, { ids, query: [], headers: {}, body });
  return search === undefined ? made : { ...made, path: `${made.path}?${search}` };
}

function bodySchema({ operation }: Operation): Loose {
  return operation.requestBody?.content?.['application/json']?.schema;
}

function validDraft(document: Loose, one: Operation, known: Known): Arbitrary<Draft> {
  const parameters: Loose[] = (one.operation.parameters ?? []).filter((each: Loose) => each.in === 'query');
  const isNeeded = ({ required, name }: Loose) => required === true || known.values[`?${name}`] !== undefined;
  const needed = parameters.filter(isNeeded);
  const optional = parameters.filter((each) => !isNeeded(each));
  const query = fc
    .subarray(optional, { maxLength: Math.min(3, optional.length) })
    .chain((chosen) =>
      fc.tuple(
        ...[...needed, ...chosen].map((each) =>
          parameterValue(document, each, known).map((value): [string, string] => [
            each.name,
            encodeURIComponent(wellFormed(String(value))),
          ]),
        ),
      ),
    );
  const schema = bodySchema(one);
  const nothing = fc.constant(undefined);
  const some = schema === undefined ? nothing : fromSchema(document, schema, { name: '', known });
  const body = one.operation.requestBody?.required === true ? some : fc.oneof(some, nothing);
  return fc.record({ query, body }).map((made) => ({ ...made, ids: known.ids, headers: {} }));
}

function parameterValue(document: Loose, { name, schema, description = '' }: Loose, known: Known) {
  const given = known.values[`?${name}`] ?? known.values[name];
  const words = /(?:Some of|Fields of the answer, separated by commas:) ([^.]+?)(?:, separated by commas)?\./;
  const list = words.exec(description)?.[1].split(/, /);
  if (given !== undefined) return fc.constantFrom(...given);
  if (list !== undefined)
    return fc
      .subarray(list, { minLength: 1, maxLength: Math.min(4, list.length) })
      .map((chosen) => chosen.join(','));
  return fromSchema(document, schema, { name, known });
}

interface Place {
  name: string;
  known: Known;
}

function fromSchema(document: Loose, schema: Loose, place: Place): Arbitrary<unknown> {
  const given = place.name === '' ? undefined : place.known.values[place.name];
  if (given !== undefined)
    return fc.oneof(
      { weight: 5, arbitrary: fc.constantFrom(...given) },
      { weight: 1, arbitrary: bySchema(document, schema, place) },
    );
  return bySchema(document, schema, place);
}

function bySchema(document: Loose, schema: Loose, place: Place): Arbitrary<unknown> {
  if (schema.$ref !== undefined) {
    const { [schema.$ref.split('/').at(-1)]: target } = document.components.schemas;
    return bySchema(document, target, place);
  }
  const inner = schema.anyOf ?? schema.oneOf;
  if (inner !== undefined)
    return fc.oneof(...inner.map((one: Loose) => bySchema(document, one, { ...place, name: '' })));
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (Array.isArray(schema.type))
    return fc.oneof(...schema.type.map((type: string) => bySchema(document, { ...schema, type }, place)));
  const make = BY_TYPE[schema.type as string];
  return make === undefined ? fc.jsonValue({ maxDepth: 2 }) : make(schema, document, place);
}

const BY_TYPE: Record<string, (schema: Loose, document: Loose, place: Place) => Arbitrary<unknown>> = {
  string: textOf,
  boolean: () => fc.boolean(),
  null: () => fc.constant(null),
  integer: ({ minimum = -2_147_483_648, maximum = 2_147_483_647 }) =>
    fc.integer({ min: minimum, max: Math.min(maximum, 2_147_483_647) }),
  number: ({ minimum = -1e9, maximum = 1e9 }) => fc.double({ min: minimum, max: maximum, noNaN: true }),
  array: ({ items = {}, minItems = 0, maxItems = 5 }, document, place) =>
    fc.array(bySchema(document, items, { ...place, name: '' }), {
      ...{ minLength: minItems, maxLength: Math.min(maxItems, minItems + 4) },
    }),
  object: objectOf,
};

function objectOf(schema: Loose, document: Loose, place: Place): Arbitrary<unknown> {
  const { properties = {}, required = [], additionalProperties, propertyNames } = schema;
  const optional = Object.keys(properties).filter((name) => !required.includes(name));
  const most = Math.min(MOST_OPTIONAL, optional.length);
  const named = fc
    .subarray(optional, { maxLength: most })
    .chain((chosen) =>
      fc.record(
        Object.fromEntries(
          [...required, ...chosen].map((name: string) => [
            name,
            fromSchema(document, properties[name], { ...place, name }),
          ]),
        ),
      ),
    );
  if (typeof additionalProperties !== 'object') return named;
  const value = bySchema(document, additionalProperties, { ...place, name: '' });
  const more = fc.dictionary(textOf(propertyNames ?? {}), value as Arbitrary<never>, { maxKeys: 3 });
  return fc.tuple(named, more).map(([one, other]) => ({ ...(one as object), ...other }));
}

const BY_FORMAT: Record<string, string[]> = {
  'host-rule': ['host', 'any', '*.example.com', 'example.com:8080'],
  'visit-rate': ['500/day', '10/h'],
  'http-url': ['https://example.com/', 'http://127.0.0.1/x?y=1'],
  'day-hours': ['08:00-18:00', '22-6'],
  'feed-address': ['https://example.com/feed.xml', '/feed'],
};

function textOf({ pattern, format, minLength = 0, maxLength = 40 }: Loose): Arbitrary<string> {
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern));
  if (BY_FORMAT[format] !== undefined) return fc.constantFrom(...BY_FORMAT[format]);
  return fc
    .string({
      ...{ minLength, maxLength: Math.max(minLength, Math.min(maxLength, 40)) },
      unit: 'grapheme',
    })
    .filter((text) => text.length <= maxLength);
}

/** Values that programs send by mistake, and others on purpose. */
const ODD_VALUES: unknown[] = [
  ...[null, true, false, 0, -1, 1.5, -0, 1e308, -1e308, 2 ** 53, -(2 ** 63), 2 ** 31, 1e-320],
  ...[
    '',
    ' ',
    '\0',
    'a\0b',
    '\ud800',
    'x\udfff\ud800',
    '\u202e\u0007\u001b[31m',
    '\n',
    '0',
    '-1',
    'NaN',
    'null',
  ],
  ...[
    'x'.repeat(300),
    'y'.repeat(100_000),
    '%00',
    '../../../etc/passwd',
    "'; DROP TABLE pages; --",
    '<script>',
  ],
  ...[
    'http://10.0.0.1/',
    'http://localhost/',
    'file:///etc/passwd',
    'http://[::1]:1/',
    'http://a b/',
    'https://',
  ],
  ...[
    'http://user:secret@example.com/',
    '(a+)+$',
    '[',
    '*',
    '{{7*7}}',
    '9'.repeat(400),
    '2026-02-30T00:00:00Z',
  ],
  ...[
    [],
    {},
    [[]],
    [null],
    ['a', 1],
    { a: { b: {} } },
    { length: 3 },
    { toString: 1 },
    Array(2000).fill('x'),
  ],
];

const ODD_TEXTS: string[] = ODD_VALUES.filter((value) => typeof value !== 'object').map(String);

/** Lone surrogates as the bytes that a connection would carry. */
const wellFormed = (text: string) => Buffer.from(text).toString();

const encode = (text: string) => encodeURIComponent(wellFormed(text)).slice(0, 8000);

/** As they stand in an address: also what no encoder would make. */
const ODD_PARTS: string[] = [
  ...ODD_TEXTS.map(encode),
  ...[
    '..',
    '%2e%2e',
    '..%2f..%2fapi%2fv1%2ftokens',
    '%2F',
    '%5c..%5c',
    '%',
    '%zz',
    '%ED%A0%80',
    '%FF',
    '%c0%af',
  ],
  ...['a%2Fb', ';x=1', '.', '~', '@', '%00', '%0d%0aX-Header:%201', '*', 'undefined', '[object%20Object]'],
];

function mutatePath({ ids, strangers }: Known): Mutation[] {
  const names = Object.keys(ids);
  if (names.length === 0) return [];
  const value = fc.oneof(
    fc.uuid(),
    fc.constantFrom(...strangers),
    fc.constantFrom(...ODD_PARTS).filter((part) => part !== ''),
    fc.constantFrom(...Object.values(ids)).map((id) => id.toUpperCase()),
  );
  return [
    fc.tuple(fc.constantFrom(...names), value).map(([name, part]) => (draft: Draft) => ({
      ...draft,
      ids: { ...draft.ids, [name]: part },
    })),
  ];
}

function mutateQuery({ operation }: Operation): Mutation[] {
  const names: string[] = (operation.parameters ?? [])
    .filter((one: Loose) => one.in === 'query')
    .map((one: Loose) => one.name);
  const part = fc.constantFrom(...ODD_PARTS);
  const add = (pairs: [string, string][]) => (draft: Draft) => ({
    ...draft,
    query: [...draft.query, ...pairs],
  });
  const unknown = fc
    .tuple(fc.constantFrom('unknown', '__proto__', 'a[b]', 'token', '%00', 'Limit'), part)
    .map(([name, value]) => add([[name, value]]));
  if (names.length === 0) return [unknown];
  const name = fc.constantFrom(...names);
  return [
    unknown,
    fc.tuple(name, part).map(([one, value]) => (draft: Draft) => ({
      ...draft,
      query: [...draft.query.filter(([other]) => other !== one), [one, value] as [string, string]],
    })),
    fc.tuple(name, part).map(([one, value]) =>
      add([
        [one, value],
        [one, value],
      ]),
    ),
    fc.tuple(name, part).map(([one, value]) => add([[`${one}[]`, value]])),
  ];
}

function mutateHeaders(): Mutation[] {
  const header = fc.constantFrom<[string, string]>(
    ['if-match', '"'],
    ['if-match', `"${'9'.repeat(500)}.x"`],
    ['if-none-match', '*, "a", W/'],
    ['idempotency-key', 'x'.repeat(256)],
    ['idempotency-key', 'a b'],
    ['accept', 'image/png'],
    ['range', 'bytes=5-1'],
    ['accept-encoding', 'br;q=9, nonsense'],
    ['last-event-id', '99999999999999999999'],
    ['x-http-method-override', 'DELETE'],
    ['cookie', 'sumi_session=%00; sumi_session=x; =; ;'],
    ['content-encoding', 'gzip'],
    ['content-type', 'application/json; charset=utf-16'],
  );
  return [
    header.map(([name, value]) => (draft: Draft) => ({
      ...draft,
      headers: { ...draft.headers, [name]: value },
    })),
  ];
}

function mutateBody(): Mutation[] {
  const odd = fc.constantFrom(...ODD_VALUES);
  const withBody = (draft: Draft, change: (body: Record<string, unknown>) => unknown): Draft => ({
    ...draft,
    body: typeof draft.body === 'object' && draft.body !== null ? change({ ...draft.body }) : draft.body,
  });
  const raw = fc.constantFrom<string | Buffer>(
    ...['{', '{"a":1,}', '[1', 'name=x', '"', 'null', '{} {}', 'NaN', '\ufeff{}', '{"a":1,"a":2}', '01'],
    ...[Buffer.from([0x22, 0xff, 0x22]), Buffer.from([0x1f, 0x8b, 0]), '{"__proto__":{"x":1}}'],
    ...['['.repeat(5000), `{"name":"${'\\ud800'.repeat(20)}"}`, '{"\\u0000":1}', '1e99999'],
  );
  const type = fc.constantFrom(
    'text/plain',
    'text/html',
    'multipart/form-data',
    'application/xml',
    '',
    'a/b/c',
  );
  return [
    fc.tuple(fc.nat(20), odd).map(
      ([index, value]) =>
        (draft: Draft) =>
          withBody(draft, (body) => {
            const names = Object.keys(body);
            return names.length === 0 ? value : { ...body, [names[index % names.length]]: value };
          }),
    ),
    fc.tuple(fc.nat(20), odd).map(
      ([index, value]) =>
        (draft: Draft) =>
          withBody(draft, (body) => intoInner(body, index, value)),
    ),
    fc
      .tuple(fc.constantFrom('unknown', 'id', 'constructor', 'a~b/c', '', '\ud800', 'x'.repeat(500)), odd)
      .map(
        ([name, value]) =>
          (draft: Draft) =>
            withBody(draft, (body) => ({ ...body, [name]: value })),
      ),
    fc.nat(20).map(
      (index) => (draft: Draft) =>
        withBody(draft, (body) => {
          const names = Object.keys(body);
          return Object.fromEntries(
            Object.entries(body).filter(([name]) => name !== names[index % names.length]),
          );
        }),
    ),
    odd.map((value) => (draft: Draft) => ({ ...draft, body: value })),
    raw.map((text) => (draft: Draft) => ({ ...draft, raw: text })),
    type.map((one) => (draft: Draft) => ({ ...draft, headers: { ...draft.headers, 'content-type': one } })),
  ];
}

/** Puts the value into the first object or array of the body that there is. */
function intoInner(body: Record<string, unknown>, index: number, value: unknown): unknown {
  const [name, inner] = Object.entries(body).find(([, one]) => typeof one === 'object' && one !== null) ?? [];
  if (name === undefined) return { ...body, settings: value };
  if (Array.isArray(inner)) return { ...body, [name]: [...inner, value] };
  const names = [...Object.keys(inner as object), 'unknown'];
  return { ...body, [name]: { ...(inner as object), [names[index % names.length]]: value } };
}

function build({ method, path }: Operation, draft: Draft, raw?: string | Buffer): MadeRequest {
  const { ids, query, headers } = draft;
  const address = path.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? 'nothing');
  const search = query.map(([name, value]) => `${name}=${value}`).join('&');
  const body = raw ?? (draft.body === undefined ? undefined : JSON.stringify(draft.body));
  return {
    method,
    path: search === '' ? address : `${address}?${search}`,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body }),
  };
}

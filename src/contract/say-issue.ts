/** What a schema found wrong, as a sentence for who sent it: zod's own words are those of a programmer. */

type Rule = readonly [RegExp, (...found: string[]) => string];

const BOUNDS: Readonly<Record<string, string>> = {
  '>=': 'at least',
  '>': 'more than',
  '<=': 'at most',
  '<': 'less than',
};

const RULES: readonly Rule[] = [
  [/^Invalid input: expected \w+, received undefined$/, () => 'Expected a value; there is none'],
  [/^Invalid input: expected (\w+), received (\w+)$/, (kind, found) => `Expected ${kind}, found ${found}`],
  [/^Invalid option: expected one of (.+)$/, (names) => `Expected one of ${names.split('|').join(', ')}`],
  [
    /^Too (?:small|big): expected \w+ to (?:be|have) ([<>]=?)(\S+)((?: \w+)?)$/,
    (bound, limit, unit) =>
      `Expected ${BOUNDS[bound]} ${limit}${limit === '1' ? unit.replace(/s$/, '') : unit}`,
  ],
];

export function sayIssue(message: string): string {
  for (const [shape, say] of RULES) {
    const found = shape.exec(message);
    if (found !== null) return sentence(say(...found.slice(1)));
  }
  return sentence(message);
}

function sentence(message: string): string {
  const text = message.charAt(0).toUpperCase() + message.slice(1);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

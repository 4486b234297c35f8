/**
 * DOUBLE and FLOAT as DuckDB writes them: the shortest digits that give the same number back, and never without a
 * point.
 */

/** Of a decimal exponent: outside of these, DuckDB writes 1e+16 and 1e-05. */
const LEAST_PLAIN_EXPONENT = -4;
const LEAST_SCIENTIFIC_EXPONENT = 16;
const MOST_FLOAT_DIGITS = 9;
const FLOAT_BITS = 24;

export function doubleText(value: number): string {
  const size = Math.abs(value);
  // Between these, JavaScript writes the same digits.
  if (size >= 1e-4 && size < 1e16) return Number.isInteger(value) ? `${value}.0` : String(value);
  if (value === 0) return Object.is(value, -0) ? '-0.0' : '0.0';
  return Number.isFinite(value) ? layOutDigits(value.toExponential()) : notFinite(value);
}

/** A FLOAT arrives as the double next to it, which has digits that it never had. */
export function floatText(value: number): string {
  if (!Number.isFinite(value)) return notFinite(value);
  if (value === 0) return doubleText(value);
  const halfStep = 2 ** (Math.floor(Math.log2(Math.abs(value))) - FLOAT_BITS);
  for (let digits = 1; digits < MOST_FLOAT_DIGITS; digits++) {
    const short = value.toExponential(digits - 1);
    if (Math.fround(Number(short)) !== value) continue;
    // Half way between two FLOATs the digits tell neither: DuckDB then gives all that a whole number has.
    if (Math.abs(Number(short) - value) >= halfStep && halfStep > 1) return doubleText(value);
    return layOutDigits(trimZeros(short));
  }
  return layOutDigits(trimZeros(value.toExponential(MOST_FLOAT_DIGITS - 1)));
}

function notFinite(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  return value > 0 ? 'inf' : '-inf';
}

function trimZeros(text: string): string {
  return text.replace(/\.?0+e/, 'e');
}

/** From JavaScript's 1.25e+3 to 1250.0. */
function layOutDigits(scientific: string): string {
  const [mantissa, exponentText] = scientific.split('e');
  const exponent = Number(exponentText);
  const isNegative = mantissa.startsWith('-');
  const digits = mantissa.replace(/[-.]/g, '');
  const sign = isNegative ? '-' : '';
  if (exponent >= LEAST_SCIENTIFIC_EXPONENT || exponent < LEAST_PLAIN_EXPONENT) {
    const size = String(Math.abs(exponent)).padStart(2, '0');
    return `${mantissa}e${exponent < 0 ? '-' : '+'}${size}`;
  }
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, '0');
  return `${sign}${whole}.${digits.slice(exponent + 1) || '0'}`;
}

import { isDeepStrictEqual } from 'node:util';

/** Of numbers that a double does not hold: read and written with the digits that they came with. */
declare global {
  interface JSON {
    // TypeScript's libraries do not know them yet; Node does since its version 21.
    parse(text: string, reviver: ReviverWithSource): unknown;
    rawJSON(text: string): ExactNumber;
    isRawJSON(value: unknown): boolean;
  }
}

type ReviverWithSource = (
  key: string,
  value: unknown,
  context: { readonly source?: string },
) => unknown;

/** A number as it was written; `JSON.stringify` writes it so. Only numbers are ever made such. */
export interface ExactNumber {
  readonly rawJSON: string;
}

export const isExactNumber = (value: unknown): value is ExactNumber => JSON.isRawJSON(value);

/** Numbers of 16 characters or more, or with an exponent: all others a double holds. */
const longNumber = /[:,[]\s*(-?\d(?:[\d.]{15,}|[\d.]*[eE])[\d.eE+-]*)/gu;

/**
 * Digits before or after the point from which on a number is kept as the text that it came as: no
 * amount is so large, and some characters such as `1e100000` must not become 100 KB for who reads them.
 */
const mostDigits = 1_000;

/**
 * What `JSON.parse` gives, but numbers that a double does not hold are kept as they were written.
 * Their source is read only if there is such a number: the scan for one takes a third of
 * the parse, asking for each number's source five times as long as the parse.
 *
 * @throws SyntaxError where `text` is no JSON
 */
export function parseExactly(text: string): unknown {
  if (!hasLongNumber(text)) return JSON.parse(text);
  try {
    return JSON.parse(text, keepDigits);
  } catch (error) {
    // Nested deeper than a function can go that is called for each level; without one there is no limit.
    if (error instanceof RangeError) return JSON.parse(text);
    throw error;
  }
}

/** What stands in a text may look like a number too: then the source is read for nothing. */
function hasLongNumber(text: string): boolean {
  for (const [, number = ''] of text.matchAll(longNumber)) {
    if (!isDouble(number)) return true;
  }
  return false;
}

function keepDigits(_key: string, value: unknown, { source }: { readonly source?: string }) {
  if (typeof value !== 'number' || source === undefined || isDouble(source)) return value;
  const decimal = decimalOf(source);
  if (decimal === null) return value;
  const { digits, exponent } = decimal;
  const isSpellable = digits.length + exponent <= mostDigits && -exponent <= mostDigits;
  return isSpellable ? JSON.rawJSON(source) : source;
}

/** A decimal number: `digits` without zeros at either end, times 10 to the power of `exponent`. */
interface Decimal {
  readonly sign: string;
  readonly digits: string;
  readonly exponent: number;
}

function decimalOf(text: string): Decimal | null {
  const parts = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/u.exec(text);
  if (parts === null) return null;
  const [, sign = '', whole = '', fraction = '', power = '0'] = parts;
  const all = `${whole}${fraction}`;
  const significant = withoutZerosAtEnd(all);
  const digits = significant.replace(/^0+/u, '');
  if (digits === '') return { sign: '', digits, exponent: 0 };
  return {
    sign,
    digits,
    exponent: Number(power) - fraction.length + all.length - significant.length,
  };
}

/** A pattern anchored at the end alone tries each run of zeros, which takes the square of their number. */
function withoutZerosAtEnd(digits: string): string {
  let end = digits.length;
  while (digits[end - 1] === '0') end -= 1;
  return digits.slice(0, end);
}

/** Whether a number's nearest double has the same digits. */
function isDouble(source: string): boolean {
  const nearest = String(Number(source));
  if (nearest === source) return true;
  const [written, held] = [decimalOf(source), decimalOf(nearest)];
  return written !== null && isDeepStrictEqual(written, held);
}

/** The base-10 digits of a whole JSON number; null for all else. */
export function integerText(value: unknown): string | null {
  const exact = isExactNumber(value) ? value.rawJSON : null;
  const source = typeof value === 'number' ? String(value) : exact;
  const decimal = source === null ? null : decimalOf(source);
  if (decimal === null || decimal.exponent < 0) return null;
  const { sign, digits, exponent } = decimal;
  return digits === '' ? '0' : `${sign}${digits}${'0'.repeat(exponent)}`;
}

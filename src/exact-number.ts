import { isDeepStrictEqual } from 'node:util';

/** For numbers that a double cannot hold. */
declare global {
  interface JSON {
    // In Node since 21, and not yet in TypeScript's libraries.
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

/** A number as it was written, which `JSON.stringify` writes unchanged. */
export interface ExactNumber {
  readonly rawJSON: string;
}

export const isExactNumber = (value: unknown): value is ExactNumber => JSON.isRawJSON(value);

/** Candidates: 16 characters or more, or an exponent. A double holds all others. */
const longNumber = /[:,[]\s*(-?\d(?:[\d.]{15,}|[\d.]*[eE])[\d.eE+-]*)/gu;

/** With more digits on one side of the point, a number stays text: not 100 KB of `1e100000`. */
const mostDigits = 1_000;

/**
 * `JSON.parse`, with exact numbers as ExactNumber. Sources are read only if needed: the scan takes a third of the
 * parse, reading them five times the parse.
 * @throws SyntaxError
 */
export function parseExactly(text: string): unknown {
  return hasLongNumber(text) ? JSON.parse(text, keepDigits) : JSON.parse(text);
}

/** A match inside a string costs only time. */
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

/** A decimal number: `digits` without outer zeros, times 10 to the power of `exponent`. */
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

/** Not a regular expression anchored at the end: it takes quadratic time on runs of zeros. */
function withoutZerosAtEnd(digits: string): string {
  let end = digits.length;
  while (digits[end - 1] === '0') end -= 1;
  return digits.slice(0, end);
}

function isDouble(source: string): boolean {
  const nearest = String(Number(source));
  if (nearest === source) return true;
  const [written, held] = [decimalOf(source), decimalOf(nearest)];
  return written !== null && isDeepStrictEqual(written, held);
}

/** The base-10 digits of a whole JSON number; otherwise null. */
export function integerText(value: unknown): string | null {
  const exact = isExactNumber(value) ? value.rawJSON : null;
  const source = typeof value === 'number' ? String(value) : exact;
  const decimal = source === null ? null : decimalOf(source);
  if (decimal === null || decimal.exponent < 0) return null;
  const { sign, digits, exponent } = decimal;
  return digits === '' ? '0' : `${sign}${digits}${'0'.repeat(exponent)}`;
}

import { z } from 'zod';
import { integerText, isExactNumber, type ExactNumber } from '../exact-number.ts';

/** Any field but the identity may be null or absent; both mean "not told". */
export const text = z.string().nullish();
export const flag = z.boolean().nullish();

/** The nearest double, which is what its column holds, where the service tells more digits. */
const nearestDouble = z
  .custom<ExactNumber>(isExactNumber)
  .transform(({ rawJSON }) => Number(rawJSON))
  .pipe(z.number());
export const percentage = z.union([z.number(), nearestDouble]).nullish();

/** A count, height or id: none is negative, or beyond 2^53. */
export const count = z.int().nonnegative().nullish();

/** Thirty-two bytes of hex, stored in lower case. */
export const hash = z
  .string()
  .regex(/^0x[0-9a-fA-F]{64}$/, 'expected a hash: 0x and 64 hex digits')
  .transform((value) => value.toLowerCase());

/** A block height or batch number as the JSON integer it is in the API. */
export const height = z.number().int().nonnegative();

const largestWei = String(2n ** 256n - 1n);

const digits = z
  .string()
  .regex(/^[0-9]{1,78}$/, 'expected an integer in base 10, not negative, below 2^256')
  .refine(
    (told) => told.length < largestWei.length || told <= largestWei,
    'expected an integer below 2^256',
  );

/** A JSON number in the place of digits, which loses none of them. */
export const digitsOfNumber = z.unknown().transform((told) => integerText(told) ?? told);

/** Wei and other big integers, from 0 to 2^256 - 1: base-10 text, or a number. */
export const bigInteger = z.union([digits, digitsOfNumber.pipe(digits)]).nullish();

/** ISO 8601 to the second or finer; a time without a zone is UTC, as the service's are. */
export const time = z.iso
  .datetime({ offset: true, local: true })
  .refine(isStorable, 'a time that Postgres cannot hold: its year is 0 or its offset 16 h or more')
  .refine((told) => /T\d\d:\d\d:\d\d/u.test(told), 'expected a time with its seconds')
  .transform((told) => utc(wholeMicroseconds(told)))
  .nullish();

function isStorable(told: string): boolean {
  return !told.startsWith('0000') && !/[+-](?:1[6-9]|2\d):?\d\d$/u.test(told);
}

/** What is finer than a microsecond is cut off: Postgres rounds it, up into the next second if need be. */
const wholeMicroseconds = (told: string) => told.replace(/(\.\d{6})\d+/u, '$1');

const utc = (told: string) => (/(?:Z|[+-]\d\d:?\d\d)$/iu.test(told) ? told : `${told}Z`);

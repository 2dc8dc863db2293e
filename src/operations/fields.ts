import { z } from 'zod';

/** Any field but the identity may be null or absent; both mean "not told". */
export const text = z.string().nullish();
export const flag = z.boolean().nullish();
export const percentage = z.number().nullish();

/** A count, height or id; beyond 2^53 JSON.parse has already lost digits. */
export const count = z.number().int().nullish();

/** Thirty-two bytes of hex, stored in lower case. */
export const hash = z
  .string()
  .regex(/^0x[0-9a-fA-F]{64}$/, 'expected a hash: 0x and 64 hex digits')
  .transform((value) => value.toLowerCase());

/** A block height or batch number as the JSON integer it is in the API. */
export const height = z.number().int().nonnegative();

/** Wei and other big integers: base-10 text of at most 78 digits, which holds 2^256 - 1. */
export const bigInteger = z
  .string()
  .regex(/^-?[0-9]{1,78}$/, 'expected an integer in base 10 of at most 78 digits')
  .nullish();

/** ISO 8601 with or without decimals; a time without a zone is UTC, as the service's are. */
export const time = z.iso
  .datetime({ offset: true, local: true })
  .refine(isStorable, 'a time that Postgres cannot hold: its year is 0 or its offset 16 h or more')
  .transform((value) => (/(?:Z|[+-]\d\d:?\d\d)$/i.test(value) ? value : `${value}Z`))
  .nullish();

function isStorable(told: string): boolean {
  return !told.startsWith('0000') && !/[+-](?:1[6-9]|2\d):?\d\d$/u.test(told);
}

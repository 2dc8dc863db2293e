import { z } from 'zod';
import { embeddedAddress } from '../../address/decode.ts';
import { textOf } from '../../drift/field-notes.ts';
import { bigInteger, digitsOfNumber, flag, hash, time } from '../fields.ts';

/** A height, but as base-10 text: the spec's own type for this one. A number is as good. */
const heightText = z
  .string()
  .regex(/^[0-9]{1,15}$/, 'expected a block number: base 10, not negative, at most 15 digits');
const blockNumber = z.union([heightText, digitsOfNumber.pipe(heightText)]).transform(Number);

/** A user operation: the spec's table 2.4. */
export const userOperation = z.looseObject({
  hash,
  address: embeddedAddress.nullish(),
  block_number: blockNumber.nullish(),
  entry_point: embeddedAddress.nullish(),
  entry_point_version: textOf('v0.6', 'v0.7', 'v0.8', 'v0.9'),
  fee: bigInteger,
  status: flag,
  timestamp: time,
  transaction_hash: hash.nullish(),
});
export type UserOperation = z.infer<typeof userOperation>;

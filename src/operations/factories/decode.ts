import { z } from 'zod';
import { embeddedAddress } from '../../address/decode.ts';

/** The list is ranked by it, and its changes are kept for good: what is no number of accounts counts as not told. */
const accounts = z.int().nonnegative().nullish();

/** A wallet factory: the spec's table 2.5. Its address is its identity. */
export const factory = z.looseObject({ address: embeddedAddress, total_accounts: accounts });
export type Factory = z.infer<typeof factory>;

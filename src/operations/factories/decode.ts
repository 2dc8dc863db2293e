import { z } from 'zod';
import { embeddedAddress } from '../../address/decode.ts';
import { count } from '../fields.ts';

/** A wallet factory: the spec's table 2.5. Its address is its identity. */
export const factory = z.looseObject({ address: embeddedAddress, total_accounts: count });
export type Factory = z.infer<typeof factory>;

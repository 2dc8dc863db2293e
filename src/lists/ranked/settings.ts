import { z } from 'zod';
import { schedule, timezone } from '../settings.ts';

/** Keys of a ranked list; parsing `{}` gives the defaults. */
export const rankedSettings = z
  .strictObject({
    schedule: schedule(
      '0 */6 * * *',
      'Each time reads the whole list: one page of 20 credits for every 50 factories.',
    ),
    timezone,
  })
  .describe('Wallet factories with their numbers of accounts.');

export type RankedSettings = z.output<typeof rankedSettings>;

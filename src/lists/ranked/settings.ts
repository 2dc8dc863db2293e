import { z } from 'zod';
import type { Configured } from '../define.ts';
import { freshness, schedule, timezone } from '../settings.ts';

/** Keys of a ranked list; parsing `{}` gives the defaults. */
export const rankedSettings = ({ guide, defaults }: Configured) =>
  z
    .strictObject({
      schedule: schedule(
        defaults.schedule,
        `Each time reads the whole list: one page of 20 credits for every 50 ${guide.items}.`,
      ),
      timezone,
      freshness,
    })
    .describe(guide.about);

export type RankedSettings = z.output<ReturnType<typeof rankedSettings>>;

import { z } from 'zod';
import { parseDuration } from '../../time.ts';
import type { ConfigDefaults, Configured } from '../operation.ts';
import { mostWalks } from '../pace.ts';
import { duration, polling, time } from '../settings.ts';

const dayMs = 86_400_000;
/** Beyond it `backfill --again` reads the history better. */
const deepestMs = 90 * dayMs;
const oftenestMs = 60_000;
/** Each poll judges each rule; a handful of depths is enough. */
const mostRules = 10;

const resweepRule = z.strictObject({
  depth: duration
    .refine(
      (ms) => ms <= deepestMs,
      'is more than 90d: read the history again with backfill --again instead',
    )
    .describe('How far below the newest known item the poll goes, such as 1h; at most 90d.'),
  every: duration
    .refine(
      (ms) => ms >= oftenestMs,
      'is less than 1m: schedules fire once a minute at most; write 1m or more',
    )
    .describe('How often, such as 8h. The rule costs depth / every of the pages that are new.'),
});

/** A rule that is no deeper than each poll would cost nothing and find nothing. */
function refuseShallow(settings: unknown, context: z.RefinementCtx): void {
  // It is called even if elements are wrong: these are left to their own messages.
  const { overlap, resweep } = settings as { overlap?: unknown; resweep?: unknown };
  const overlapMs = typeof overlap === 'number' ? overlap : 0;
  for (const [index, rule] of (Array.isArray(resweep) ? resweep : []).entries()) {
    const depthMs: unknown = rule?.depth;
    if (typeof depthMs !== 'number' || depthMs > overlapMs) continue;
    const message =
      'is not deeper than overlap, which each poll reads: write more, or leave it out';
    context.addIssue({ code: 'custom', path: ['resweep', index, 'depth'], message });
  }
}

export const newestFirstSettings = ({ guide: { items, about }, defaults }: Configured) =>
  z
    .strictObject({
      ...polling(
        defaults,
        `Each time costs one page (20 credits) at least, and one for every 50 ${items} that are new or within the overlap; resweep adds deeper polls.`,
      ),
      overlap: duration
        .prefault(defaults.overlap)
        .describe(
          `How far below the newest known item each poll goes, by the time of the ${items}, because some appear behind the head. More finds later arrivals at once and costs more pages of 20 credits.`,
        ),
      resweep: z
        .array(resweepRule)
        .max(mostRules)
        .prefault([...defaults.resweep])
        .describe(
          `Deeper polls for ${items} that arrive later than the overlap. Each rule costs depth / every of the pages that are new: 5m every 20m a quarter, 1h every 8h an eighth. The default costs ${shareOf(defaults.resweep)} pages of 20 credits for each page that is new. [] turns them off.`,
        ),
      since: time.describe(
        `Oldest of the ${items} wanted, a date or timestamp (UTC unless it says otherwise). Without it the whole history is read, once: one page of 20 credits for every 50 ${items}.`,
      ),
      parallel: z
        .int()
        .min(1)
        .max(mostWalks)
        .nullish()
        .describe(
          'How many walks read history at once, at most. Without it as many as the rate limit and the round trip call for: one walk waits for each answer. They cost 1 % more pages at most.',
        ),
    })
    .superRefine(refuseShallow, {
      when: ({ value }) => typeof value === 'object' && value !== null,
    })
    .transform(({ overlap: overlapMs, resweep, parallel, ...rest }) => ({
      ...rest,
      /** Null: as many as pay. */
      parallel: parallel ?? null,
      /** How far below the covered top a live walk goes. */
      overlapMs,
      /** How deep below the covered top, and how often. */
      resweep: resweep.map(({ depth: depthMs, every: everyMs }) => ({ depthMs, everyMs })),
    }))
    .describe(about);

/** What rules cost together, as a part of the new pages. */
function shareOf(rules: ConfigDefaults['resweep']): string {
  const cost = rules.map(
    (rule) => (parseDuration(rule.depth) ?? 0) / (parseDuration(rule.every) ?? 1),
  );
  return String(Math.round(100 * cost.reduce((sum, part) => sum + part, 0)) / 100);
}

export type NewestFirstSettings = z.output<ReturnType<typeof newestFirstSettings>>;

/** A deeper look for late arrivals. */
export type ResweepRule = NewestFirstSettings['resweep'][number];

import { z } from 'zod';
import type { ListKind, ScopeBounds } from '../list.ts';
import type { Configured, NumberedWalk } from '../operation.ts';
import { parallelOf } from '../pace.ts';
import { polling } from '../settings.ts';
import { type BatchFacts, batchHistory, batchUpkeep, facts, nothingKnown } from './estimate.ts';
import { isDue, planBackfillBatch, planLiveBatch } from './plan.ts';
import { isPrunable, proof } from './proof.ts';
import { ribbon, status } from './status.ts';
import { batchesToRead, batchRequests, noteTarget, reconcileTarget } from './target.ts';
import type { NumberedScope } from './walks.ts';

function lanes(settings: NumberedSettings, { fromBatch, toBatch }: ScopeBounds) {
  const from_batch = fromBatch ?? settings.fromBatch;
  const to_batch = toBatch ?? settings.toBatch ?? undefined;
  if (to_batch !== undefined) {
    return [{ lane: 'backfill' as const, scope: { from_batch, to_batch } }];
  }
  const scope = { from_batch, reread: settings.reread };
  return [
    { lane: 'live' as const, scope },
    { lane: 'backfill' as const, scope },
  ];
}

const batchNumber = z.int().min(0);

/** Keys of numbered lists; parsing `{}` gives the defaults. */
const numberedSettings = ({ guide, defaults }: Configured) =>
  z
    .strictObject({
      ...polling(
        defaults,
        'Each time costs one page (20 credits) to look above the newest batch, three where one is new, 3 to 29 pages for each batch that is new, and one or more for each that is read again.',
      ),
      from_batch: batchNumber
        .default(1)
        .describe('First batch to read. Each batch costs 3 to 29 pages of 20 credits.'),
      to_batch: batchNumber
        .nullish()
        .describe(
          'Last batch to read. Without it the newest is searched, once, for under 100 pages of 20 credits, and followed.',
        ),
      reread: z
        .int()
        .min(0)
        .max(100)
        .default(2)
        .describe(
          'How many of the newest numbers are read again each time until they are proved, because a batch can be seen half imported. Each costs one page of 20 credits where nothing is new. Without effect beside to_batch.',
        ),
      parallel: z
        .int()
        .min(1)
        .max(64)
        .default(4)
        .describe('How many batches are read at once. Costs nothing: the rate limit is shared.'),
    })
    .refine(({ from_batch: from, to_batch: to }) => !(typeof to === 'number' && to < from), {
      path: ['to_batch'],
      message: 'is below from_batch: the range is reversed',
      // Also where another key is wrong, so that all problems are shown at once.
      when: ({ value }) => typeof value === 'object' && value !== null,
    })
    .transform(({ from_batch: fromBatch, to_batch, ...rest }) => ({
      ...rest,
      fromBatch,
      /** Last batch to read; null: the newest there is. */
      toBatch: to_batch ?? null,
    }))
    .describe(guide.about);

type NumberedSettings = z.output<ReturnType<typeof numberedSettings>>;

/** Lists by number, one for each: the newest numbers are found, and followed. */
export const numbered: ListKind<NumberedSettings, NumberedScope, NumberedWalk, BatchFacts> = {
  name: 'numbered',
  settings: numberedSettings,
  bounds: ['fromBatch', 'toBatch'],
  hasHistory: true,
  canReadAgain: false,
  lanes,
  extended: (settings) => settings,
  isBounded: ({ fromBatch, toBatch }) => fromBatch !== 1 || toBatch !== null,
  target: (settings, { fromBatch, toBatch }) =>
    fromBatch === undefined && toBatch === undefined
      ? null
      : { fromBatch: fromBatch ?? settings.fromBatch, toBatch: toBatch ?? settings.toBatch },
  walkScope: ({ from_batch = 1 }) => ({ batch: from_batch }),
  isDue,
  walksAtOnce: parallelOf,
  noteTarget,
  reconcileTarget,
  nextWalk: (tx, run, at) =>
    run.lane === 'live' ? planLiveBatch(tx, run, at) : planBackfillBatch(tx, run, at),
  coverage: proof,
  isPrunable,
  covers: () => 'batches',
  status,
  ribbon,
  facts,
  estimate(known, { fromBatch, toBatch: to, reread }, { pageSize, pollsPerDay }) {
    const found = known ?? nothingKnown;
    return {
      history: batchHistory(found, { from: fromBatch, to, pageSize }),
      upkeep: batchUpkeep(found, { pollsPerDay, reread, to, pageSize }),
    };
  },
  repairs: (db, { lane }) => batchesToRead(db, lane),
  async repairRequests(db, { chain_id }, _history, { pageSize }) {
    const requests = await batchRequests(db, chain_id, pageSize);
    return { likely: requests, requests };
  },
  examples: { sync: '--from-batch 1 --to-batch 20', backfill: '--from-batch 1' },
};

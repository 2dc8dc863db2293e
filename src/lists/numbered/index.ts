import type { ListKind, ScopeBounds } from '../list.ts';
import type { NumberedWalk } from '../operation.ts';
import { parallelOf } from '../parallel.ts';
import { isDue } from './due.ts';
import { batchHistory, batchUpkeep } from './estimate.ts';
import { type BatchFacts, facts, nothingKnown } from './facts.ts';
import { planBackfillBatch, planLiveBatch } from './plan.ts';
import { proof } from './proof.ts';
import { batchesToRead, batchRequests } from './repairs.ts';
import { ribbon } from './ribbon.ts';
import type { NumberedScope } from './scope.ts';
import { numberedSettings, type NumberedSettings } from './settings.ts';
import { isPrunable } from './spare.ts';
import { status } from './status.ts';
import { noteTarget, reconcileTarget } from './wishes.ts';

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
  atOnce: ({ lane, scope }) => (lane.lane === 'backfill' ? { ...scope, at_once: true } : scope),
  isDue,
  walksAtOnce: parallelOf,
  noteTarget: noteTarget,
  reconcileTarget: reconcileTarget,
  beginsAnew: () => false,
  nextWalk: (tx, run, at) =>
    run.lane === 'live' ? planLiveBatch(tx, run, at) : planBackfillBatch(tx, run, at),
  coverage: proof,
  isPrunable: isPrunable,
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

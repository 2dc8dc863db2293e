import { sql } from 'drizzle-orm';
import { tableName } from '../../db/column-types.ts';
import { hasRows } from '../../db/query.ts';
import type { Database } from '../../db/transaction.ts';
import { type Feed, ofFeed } from '../feed.ts';
import type { ListKind, ScopeBounds } from '../list.ts';
import type { NewestFirstWalk, Operation } from '../operation.ts';
import { mostWalks } from '../pace.ts';
import { placedOf } from '../positions.ts';
import { judgeListEnd, noteChanges, pagesWithChanges, removeBelow } from './evidence.ts';
import { isDue, planBackfillWalk, planLiveWalk } from './plan.ts';
import type { NewestFirstScope } from './run.ts';
import type { NewestFirstSettings } from './settings.ts';
import { newestFirstStatus } from './status.ts';

/** A list that is newest block first: a head that grows, and history that is read once. */
export const newestFirst: ListKind<NewestFirstSettings, NewestFirstScope, NewestFirstWalk> = {
  hasHistory: true,
  canReadAgain: true,
  lanes,
  extended(settings, { since }) {
    if (since === undefined || settings.since === null) return settings;
    return since === null || since < settings.since ? { ...settings, since } : settings;
  },
  target: (_settings, { since }) => (since === undefined ? null : { since }),
  walkScope: () => ({}),
  isDue,
  walksAtOnce: async (_db, { lane }) => (lane === 'live' ? 1 : mostWalks),
  noteTarget: async () => undefined,
  reconcileTarget: async () => undefined,
  nextWalk: (tx, run, at) =>
    run.lane === 'live' ? planLiveWalk(tx, run, at) : planBackfillWalk(tx, run, at),
  sqlNames,
  // A repair closes gaps; what is only to be read again has its own time.
  async repairs(db, { lane, scope }) {
    return (await needsWalk(db, lane)) ? [{ ...scope, resweep: [] }] : [];
  },
  repairRequests: async (_db, _feed, history) => history,
  decidesMembership: false,
  isReplayable: true,
  judgeEnd: (operation, db, claim) => judgeListEnd(placedOf(operation), db, claim),
  informative: (operation, tx, pages) => pagesWithChanges(placedOf(operation), tx, pages),
  afterPage: (operation, tx, walk, rows) => noteChanges(placedOf(operation), tx, walk, rows),
  afterWalk: (operation, tx, walk) => removeBelow(placedOf(operation), tx, walk),
};

function lanes(
  settings: NewestFirstSettings,
  { since = settings.since, maxPages, fromBlock, toBlock }: ScopeBounds,
) {
  const resweep = settings.resweep.map((rule) => ({
    depth_ms: rule.depthMs,
    every_ms: rule.everyMs,
  }));
  const range = {
    ...(fromBlock !== undefined && { from_block: fromBlock }),
    ...(toBlock !== undefined && { to_block: toBlock }),
  };
  // A bound in pages is for a first poll: deeper ones would be cut short by it.
  const depth = maxPages === undefined ? { resweep } : { max_pages: maxPages };
  return [
    // A live walk ends at its floor; how far back history is wanted does not concern it.
    { lane: 'live' as const, scope: { overlap_ms: settings.overlapMs, ...depth } },
    {
      lane: 'backfill' as const,
      scope: { ...(since !== null && { since }), ...range, ...depth },
    },
  ];
}

function sqlNames(operation: Operation) {
  const {
    name,
    table,
    order: { columns, key },
  } = placedOf(operation);
  const ascending = new Set([columns.height, ...key.map(({ column }) => column)]);
  return { name, table: tableName(table), ...columns, ascending: [...ascending].join(', ') };
}

const needsWalk = (db: Database, feed: Feed): Promise<boolean> =>
  hasRows(
    db,
    sql`
      select from etl.feed_gaps where ${ofFeed(feed)}
      union all
      select from etl.feeds where ${ofFeed(feed)} and not coalesce(${newestFirstStatus.coverage.shows}, false)
    `,
  );

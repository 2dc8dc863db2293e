import { sql } from 'drizzle-orm';
import type { Database } from '../../db/transaction.ts';
import { type Feed, ofFeed } from '../feed.ts';
import type { ListKind } from '../list.ts';
import type { RankedWalk } from '../operation.ts';
import { rankingHistory, rankingUpkeep } from './estimate.ts';
import { facts, nothingKnown, type RankingFacts } from './facts.ts';
import { planRankedWalk, type RankedScope } from './plan.ts';
import { proof } from './proof.ts';
import { rankedSettings, type RankedSettings } from './settings.ts';
import { status } from './status.ts';

/** A list that is ranked by something that changes: every walk reads all of it. */
export const ranked: ListKind<RankedSettings, RankedScope, RankedWalk, RankingFacts> = {
  name: 'ranked',
  settings: rankedSettings,
  bounds: ['maxPages'],
  hasHistory: false,
  canReadAgain: false,
  lanes: (_settings, { maxPages }) => [
    { lane: 'backfill', scope: maxPages === undefined ? {} : { max_pages: maxPages } },
  ],
  extended: (settings) => settings,
  isBounded: () => false,
  target: () => null,
  walkScope: () => ({}),
  atOnce: ({ scope }) => scope,
  // On start it waits for its schedule, unless it never succeeded.
  isDue: async (db, { lane }, occasion) => occasion !== 'start' || !(await hasSucceeded(db, lane)),
  walksAtOnce: async () => 1,
  noteTarget: async () => undefined,
  reconcileTarget: async () => undefined,
  // What it lacks may have been left out above, so that its end would never be right.
  beginsAnew: (failure) => failure === 'truncated',
  nextWalk: (tx, run) => planRankedWalk(tx, run),
  coverage: proof,
  // Each is an observation of the whole list, and there are few.
  isPrunable: () => sql`false`,
  covers: () => 'ranks',
  status,
  ribbon: null,
  facts,
  estimate: (known, _settings, { pollsPerDay }) => ({
    history: rankingHistory(known ?? nothingKnown),
    upkeep: rankingUpkeep(known ?? nothingKnown, pollsPerDay),
  }),
  repairs: async (db, { lane, scope }) => ((await needsRanking(db, lane)) ? [scope] : []),
  repairRequests: async (_db, _feed, history) => history,
  examples: { sync: null, backfill: null },
};

async function hasSucceeded(db: Database, feed: Feed): Promise<boolean> {
  const { rows } = await db.execute(sql`
    select from etl.feeds where ${ofFeed(feed)} and last_success_at is not null
  `);
  return rows.length > 0;
}

async function needsRanking(db: Database, feed: Feed): Promise<boolean> {
  const { rows } = await db.execute(sql`
    select from etl.feeds where ${ofFeed(feed)} and not ${proof.shows}
  `);
  return rows.length > 0;
}

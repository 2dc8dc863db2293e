import type { ChainSettings } from '../config/settings.ts';
import type { Database } from '../db/transaction.ts';
import { feedName, type FeedLane } from '../lists/feed.ts';
import { kindOf } from '../lists/index.ts';
import type { RequestCount } from '../lists/list.ts';
import type { RunScope } from '../lists/tables.ts';
import type { FeedProof } from './proof.ts';
import { estimateFeeds, type ForecastOptions } from './estimate.ts';

/** A lane to walk, and what of it. */
export interface Repair {
  readonly lane: FeedLane;
  readonly scope: RunScope;
}

/**
 * The walks that the proofs call for, and no others: the holes of a list, the batches that
 * are unread or do not meet, a ranking that was never published. Quarantine is none of them: reading
 * a bad item again does not mend it.
 *
 * @param lanes the configured lanes with what a run of each covers
 * @returns rounds: a lane takes one scope at a time, so a lane's second range is in a second round
 */
export async function repairsOf(
  db: Database,
  proofs: readonly FeedProof[],
  lanes: readonly Repair[],
): Promise<Repair[][]> {
  const open = openFeeds(proofs);
  const rounds: Repair[][] = [];
  for (const { lane, scope } of lanes) {
    if (lane.lane !== 'backfill' || !open.has(feedName(lane))) continue;
    const scopes = await kindOf(lane.operation).repairs(db, { lane, scope });
    for (const [round, wanted] of scopes.entries()) {
      (rounds[round] ??= []).push({ lane, scope: wanted });
    }
  }
  return rounds;
}

/** Requests that nobody makes by accident: a fifth of what the free plan has in a day. */
export const mostUnasked = 1_000;

/** How many requests the repairs take, from what is stored, as `plan` estimates them; what is not known is left out. */
export async function repairRequests(
  db: Database,
  proofs: readonly FeedProof[],
  chains: readonly ChainSettings[],
  how: ForecastOptions,
): Promise<RequestCount> {
  const costs = await repairCosts(db, openFeeds(proofs), chains, how);
  return costsTogether([...costs.values()].filter(({ requests }) => requests !== null));
}

/** Null where one of them is not known. */
export const costsTogether = (costs: readonly RequestCount[]): RequestCount => ({
  likely: sumOf(costs.map(({ likely }) => likely)),
  requests: sumOf(costs.map(({ requests }) => requests)),
});

const sumOf = (counts: readonly (number | null)[]): number | null =>
  counts.reduce((sum, count) => (sum === null || count === null ? null : sum + count), 0);

/** The same for each of some feeds, by its name. What is not configured is not among them. */
export async function repairCosts(
  db: Database,
  wanted: ReadonlySet<string>,
  chains: readonly ChainSettings[],
  how: ForecastOptions,
): Promise<ReadonlyMap<string, RequestCount>> {
  const costs = new Map<string, RequestCount>();
  for (const { feed, chain_id, operation, history } of await estimateFeeds(db, chains, how)) {
    if (!wanted.has(feed)) continue;
    const kind = kindOf(operation);
    costs.set(feed, await kind.repairRequests(db, { chain_id, operation }, history, how));
  }
  return costs;
}

const openFeeds = (proofs: readonly FeedProof[]) =>
  new Set(proofs.filter(({ open }) => open.length > 0).map(({ feed }) => feed));

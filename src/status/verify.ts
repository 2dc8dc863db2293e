import { sql } from 'drizzle-orm';
import { z } from 'zod';
import type { ChainSettings } from '../config/settings.ts';
import { type Database, execute, transact } from '../db/transaction.ts';
import { creditsPerRequest } from '../explorer/budget.ts';
import { feedName } from '../lists/feed.ts';
import { isBoundedBy, kindOf, unitOf } from '../lists/index.ts';
import type { RequestCount, Target } from '../lists/list.ts';
import { isOperation, operations } from '../lists/registry.ts';
import { feedsIn } from '../sync/feeds.ts';
import { estimateOf, type ForecastOptions, sumKnown } from './estimate.ts';
import { displayOrder, feedUnit, readFeeds } from './facts.ts';
import { commandFor, finding, type Finding } from './findings.ts';
import { count, isoTime, positionUnit } from './schema.ts';

const verifiedFeed = z.strictObject({
  feed: z.string().describe('Name of the feed: chain number, slash, operation.'),
  chain_id: count,
  chain: z.string().nullable().describe('Name of the chain. Null: unknown.'),
  operation: z.string(),
  kind: z.string().describe('How the list is ordered: newest-first, numbered or ranked.'),
  unit: positionUnit
    .nullable()
    .describe('What positions of the list count. Null: this version does not know the list.'),
  state: z.enum(['complete', 'open']),
  is_wanted: z.boolean().describe('False: no deployment wants it, so it is at rest.'),
  covered: z
    .array(
      z.strictObject({
        from: count,
        to: count,
        as_of: isoTime.describe('Complete as of then: the oldest walk that verifies a part of it.'),
        newest_as_of: isoTime.describe('The newest walk that verifies a part of it.'),
      }),
    )
    .describe('The verified ranges. From 1 to 0: the ranking is empty.'),
  open: z.array(finding).describe('What keeps the feed from being complete.'),
  notes: z.array(finding).describe('What limits the completeness, or is to be known.'),
});

const repair = z
  .strictObject({
    command: z.string(),
    requests: count.nullable().describe('About how many requests it takes. Null: unknown.'),
    credits: count.nullable().describe('What they cost. Null: unknown.'),
    at_most: count.nullable().describe('The upper bound of the requests. Null: unknown.'),
  })
  .nullable()
  .describe('The command that downloads what is open. Null: there is nothing to download.');

export const verifyDocument = z.strictObject({
  schema: z.literal('explorer-etl/verify/2'),
  at: isoTime,
  counts: z.strictObject({
    feeds: count.describe('Feeds that were ever registered, or that the configuration names.'),
    complete: count,
    open: count.describe('Feeds of which something is open.'),
    findings: count.describe('Findings that are open.'),
    notes: count,
  }),
  feeds: z.array(verifiedFeed.extend({ repair })),
  repair: repair.describe('One command for all feeds.'),
});

export type VerifyDocument = z.infer<typeof verifyDocument>;
export type VerifiedFeed = z.infer<typeof verifiedFeed>;
type Repair = NonNullable<VerifyDocument['repair']>;

/**
 * Verifies every feed ever registered, in display order, from committed data only. A feed without evidence, or with an
 * open finding, is open.
 */
export async function verifyFeeds(db: Database): Promise<VerifiedFeed[]> {
  const feeds = await transact(db, async (tx) => {
    // JIT compilation of a statement of hundreds of parts takes a minute.
    await tx.execute(sql`set local jit = off`);
    return execute(tx).values(() => verifiedFeed.omit({ state: true }))`${everyFeed()}`;
  });
  return feeds.map((feed) => ({ ...feed, state: feed.open.length === 0 ? 'complete' : 'open' }));
}

/** The feeds with what a file wants else: feeds that nothing has read, and bounds that changed since a process registered them. */
export async function withFile(
  db: Database,
  chains: readonly ChainSettings[],
  verified: readonly VerifiedFeed[],
): Promise<VerifiedFeed[]> {
  const stored = await execute(db).rows(() =>
    z.object({ feed: z.string(), settings: z.record(z.string(), z.unknown()) }),
  )`
    select feed, settings from etl.feeds
  `;
  const known = new Map(stored.map(({ feed, settings }) => [feed, settings]));
  const feeds = new Map(verified.map((feed) => [feed.feed, feed]));
  for (const { chain, operation, settings } of feedsIn(chains)) {
    const own = { chain_id: chain.id, operation };
    const feed = feedName(own);
    const found = feeds.get(feed);
    const changed = Object.entries(settings).find(
      ([name, value]) => isBoundedBy(operation, name) && value !== known.get(feed)?.[name],
    );
    if (found !== undefined && changed === undefined) continue;
    const bound = changed?.[0].replace(/B/u, '_b');
    const other = `the file has another ${bound} than the last start or sync`;
    const sentence = found === undefined ? 'never read' : other;
    const command = commandFor('sync', own);
    const gap: Finding = { kind: 'gap', place: null, sentence, command, count: null };
    const { kind } = operations[operation];
    const unread = { chain: chain.name, kind, unit: unitOf(operation), is_wanted: true };
    const before = found ?? { feed, ...own, ...unread, covered: [], open: [], notes: [] };
    feeds.set(feed, { ...before, state: 'open', open: [...before.open, gap] });
  }
  return [...feeds.values()];
}

const everyFeed = () => sql`
  with found as materialized (
    select feed, is_open, from_position, sentence, json_build_object(
      'kind', kind,
      'place', case when unit is not null then json_build_object(
        'unit', unit, 'from', from_position, 'to', to_position
      ) end,
      'sentence', sentence, 'command', command, 'count', count
    ) as finding
    from explorer.findings
  )
  select json_build_object(
    'feed', feed,
    'chain_id', feeds.chain_id,
    'chain', (select name from explorer.chains where chains.chain_id = feeds.chain_id),
    'operation', feeds.operation,
    'kind', feeds.kind,
    'is_wanted', is_wanted,
    'unit', ${feedUnit},
    'covered', coalesce(
      (
        select json_agg(to_jsonb(part) - 'feed' order by "from")
        from etl.verified_ranges as part
        where part.feed = feeds.feed
      ),
      '[]'
    ),
    'open', coalesce(
      (
        select json_agg(finding order by from_position, sentence)
        from found
        where found.feed = feeds.feed and is_open
      ),
      '[]'
    ),
    'notes', coalesce(
      (
        select json_agg(finding order by from_position desc nulls last, sentence)
        from found
        where found.feed = feeds.feed and not is_open
      ),
      '[]'
    )
  ) as feed
  from etl.feeds
  join etl.wanted_feeds using (feed)
  order by ${displayOrder}
`;

/** Recomputes coverage from every walk and page of the ledger, and every number of a list. */
export async function recountCoverage(db: Database): Promise<void> {
  const columns = sql`
    feed, lane, verified, verified_at, pages, inserted, archived_bytes, credits, spanned_items,
    spanned_blocks, last_page_at
  `;
  await transact(db, async (tx) => {
    // Commits lock the second last, after the first: the next read has all of a commit or none of it.
    await tx.execute(sql`lock table etl.batch_coverage, etl.coverage in share row exclusive mode`);
    await tx.execute(sql`delete from etl.coverage`);
    await tx.execute(
      sql`insert into etl.coverage (${columns}) select ${columns} from etl.ledger_coverage`,
    );
    await tx.execute(sql`select etl.recount_batches('%')`);
  });
}

/** The report of `verify`, with the cost of repairs by stored data and settings. */
export async function verifyReport(
  db: Database,
  verified: readonly VerifiedFeed[],
  how: ForecastOptions,
): Promise<VerifyDocument> {
  const toRepair = verified.filter(isRepairable);
  const costs = new Map<string, RequestCount>();
  for (const record of toRepair.length === 0 ? [] : await readFeeds(db)) {
    const { feed, chain_id, operation } = record.shown;
    if (!isOperation(operation) || !toRepair.some((one) => one.feed === feed)) continue;
    const { history } = estimateOf({ ...record, operation }, how);
    const own = { chain_id, operation };
    const { pageSize } = how;
    const requests = kindOf(operation).repairRequests(db, own, { pageSize, history });
    costs.set(feed, await requests);
  }
  const repairOf = (command: string, feeds: readonly VerifiedFeed[]): Repair => {
    const { likely, most } = together(feeds.map(({ feed }) => costs.get(feed) ?? unknown));
    const requests = likely === null ? null : Math.ceil(likely);
    const credits = requests === null ? null : requests * creditsPerRequest;
    return { command, requests, credits, at_most: most === null ? null : Math.ceil(most) };
  };
  const feeds = verified.map((feed) => ({
    ...feed,
    repair: isRepairable(feed) ? repairOf(commandFor('repair', feed), [feed]) : null,
  }));
  const open = feeds.filter(({ state }) => state === 'open').length;
  return {
    schema: 'explorer-etl/verify/2',
    at: how.at.toISOString(),
    counts: {
      feeds: feeds.length,
      complete: feeds.length - open,
      open,
      findings: feeds.flatMap((feed) => feed.open).length,
      notes: feeds.flatMap((feed) => feed.notes).length,
    },
    feeds,
    repair: toRepair.length === 0 ? null : repairOf('explorer-etl repair', toRepair),
  };
}

/** Whether `repair` is the command for one of a feed's findings. */
export const isRepairable = (feed: VerifiedFeed): boolean =>
  feed.open.some(({ command }: Finding) => command === commandFor('repair', feed));

const unknown: RequestCount = { likely: null, most: null };

const together = (costs: readonly RequestCount[]): RequestCount => ({
  likely: sumKnown(costs.map(({ likely }) => likely)),
  most: sumKnown(costs.map(({ most }) => most)),
});

/** A repair of more requests needs `--yes`: a fifth of the free plan's day. */
export const mostUnrequested = 1_000;

export const needsConsent = ({ likely, most }: RequestCount) =>
  (likely ?? most ?? 0) > mostUnrequested;

/** Requests of a repair; null: there is none. */
export const requestsOf = (own: Repair | null): RequestCount =>
  own === null ? unknown : { likely: own.requests, most: own.at_most };

/** Requests of the repairs of a report; leaves out unknown ones. */
export const repairRequests = ({ feeds }: Pick<VerifyDocument, 'feeds'>): RequestCount =>
  together(feeds.map((feed) => requestsOf(feed.repair)).filter(({ most }) => most !== null));

/**
 * Walks for open findings, without quarantine: a new download does not fix a bad item. `lanes` carry what their runs
 * cover. @returns rounds, as a lane takes one scope at a time: its second range is in round two
 */
export async function repairsOf(
  db: Database,
  verified: readonly VerifiedFeed[],
  lanes: readonly Target[],
): Promise<Target[][]> {
  const open = new Set(verified.flatMap(({ feed, state }) => (state === 'open' ? feed : [])));
  const rounds: Target[][] = [];
  for (const { lane, scope } of lanes) {
    if (lane.lane !== 'backfill' || !open.has(feedName(lane))) continue;
    const scopes = await kindOf(lane.operation).repairs(db, { lane, scope });
    for (const [round, wanted] of scopes.entries()) {
      (rounds[round] ??= []).push({ lane, scope: wanted });
    }
  }
  return rounds;
}

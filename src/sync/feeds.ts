import { CronExpressionParser } from 'cron-parser';
import { sql } from 'drizzle-orm';
import { type ChainFacts, chainFacts } from '../chains.ts';
import type { ChainSettings, Settings } from '../config/settings.ts';
import { tableName } from '../db/column-types.ts';
import { execute, type Database, transact, type Transaction } from '../db/transaction.ts';
import { errorOf } from '../failure.ts';
import { type Feed, feedName, ofFeed, ofLane, feedLaneShape } from '../lists/feed.ts';
import {
  boundSettings,
  boundsOn,
  type FeedTarget,
  hasHistory,
  kindOf,
  targetOf,
} from '../lists/index.ts';
import type { FeedSettings, Occasion, ScopeBounds, Target } from '../lists/list.ts';
import { operationNames, operations } from '../lists/registry.ts';
import type { RunScope } from '../lists/tables.ts';
import { printable } from '../printable.ts';
import { type ChangedFeed, dropOutdated, changedFeedShape } from './changes.ts';
import { z } from 'zod';

export interface RegisteredFeed extends Feed {
  readonly chain_name: string;
  /** Absent: the facts known of the chain. */
  readonly chain_facts?: ChainFacts;
  readonly settings: Readonly<Record<string, unknown>>;
  /** The target from a command's bounds; null or absent: the command names none. */
  readonly target?: FeedTarget | null;
}

/**
 * Registers chains, feeds and their targets: coverage is judged by them. Flags (`from`) never overwrite what a file stated.
 * @returns known feeds whose settings it changed: what they no longer want is read no further
 * @throws OriginError, with nothing changed, if a feed's data came from another explorer
 */
export async function registerFeeds(
  db: Database,
  registered: readonly RegisteredFeed[],
  from: 'file' | 'flags',
  source: ExplorerSource,
): Promise<readonly ChangedFeed[]> {
  const chains = new Map(registered.map((feed) => [feed.chain_id, chainRow(feed)]));
  return transact(db, async (tx) => {
    await tx.execute(sql`
      insert into explorer.chains as t (
        chain_id, name, native_symbol, native_decimals, explorer_url
      )
      select chain_id, name, native_symbol, native_decimals, explorer_url
      from json_populate_recordset(null::explorer.chains, ${JSON.stringify([...chains.values()])}::json)
      order by chain_id
      on conflict (chain_id) do update
      set name = excluded.name, native_symbol = excluded.native_symbol,
          native_decimals = excluded.native_decimals, explorer_url = excluded.explorer_url
      where ${from === 'file'} and t is distinct from excluded
    `);
    const changed = await storeFeeds(tx, registered, from);
    if (from === 'file') for (const feed of changed) await dropOutdated(tx, feed);
    await claimFeeds(tx, registered, source);
    return changed;
  });
}

/** Stores feeds with their settings and targets; other settings of a known one are an event. */
async function storeFeeds(
  tx: Transaction,
  registered: readonly RegisteredFeed[],
  from: 'file' | 'flags',
): Promise<ChangedFeed[]> {
  const stated = registered.map((feed) => ({
    ...feed,
    feed: feedName(feed),
    kind: operations[feed.operation].kind,
    unit: operations[feed.operation].order?.unit,
  }));
  const feeds = sql`json_to_recordset(${JSON.stringify(stated)}::json)`;
  const added = await execute(tx).values(z.string)`
    insert into etl.feeds (chain_id, operation, kind, unit, settings)
    select chain_id, operation, kind, coalesce(unit, 'blocks'), settings
    from ${feeds} as feed(chain_id bigint, operation text, kind text, unit text, settings jsonb)
    order by chain_id, operation
    on conflict (feed) do nothing
    returning feed
  `;
  for (const { chain_id, operation, feed } of stated) {
    if (added.includes(feed)) await countLeft(tx, { chain_id, operation });
  }
  return execute(tx).rows(changedFeedShape)`
    with wanted as (
      select feed, known.settings as before, settings.own || coalesce(aim.target, '{}') as settings, aim.target
      from ${feeds} as named(feed text, settings jsonb, target jsonb)
      join etl.feeds as known using (feed),
      lateral (
        select case when ${from === 'file'} then named.settings else known.settings end as own
      ) as settings,
      lateral (
        -- What a file names, its file bounds: a command's bounds are that command's.
        select case when ${from === 'flags'} and not exists (
          select from etl.lanes where lanes.feed = known.feed and wanted_by <> '{}'
        ) then coalesce(named.target, known.target) end as target
      ) as aim
    ), changed as (
      update etl.feeds as t
      set settings = wanted.settings, target = wanted.target, updated_at = now()
      from wanted
      where t.feed = wanted.feed
        and (t.settings, t.target) is distinct from (wanted.settings, wanted.target)
      returning t.feed, t.chain_id::float8, t.operation, before, t.settings as after
    ), known as (
      select * from changed where feed <> all(${sql.param(added)}::text[])
    ), noted as (
      insert into etl.events (kind, sentence)
      select 'config-changed', 'Other settings for ' || string_agg(feed, ', ' order by feed) || '.'
      from known
      having count(*) > 0
    )
    select chain_id, operation, before, after from known order by feed
  `;
}

/** Counts the rows that a forgotten feed has left: its lanes count those that come from now on. */
async function countLeft(tx: Transaction, feed: Feed): Promise<void> {
  const table = sql.raw(tableName(operations[feed.operation].table));
  await tx.execute(sql`
    with kept as (
      select count(*) as rows from ${table} where chain_id = ${feed.chain_id}
    )
    update etl.feeds set rows_before = kept.rows from kept where ${ofFeed(feed)} and kept.rows > 0
  `);
}

/** Notes a file that a command refused, once an hour. */
export async function noteRefusedFile(db: Database, sentence: string): Promise<void> {
  await db.execute(sql`
    insert into etl.events (kind, sentence)
    select 'config-refused', ${sentence}::text
    where not exists (
      select from etl.events
      where (kind, sentence) = ('config-refused', ${sentence}) and at > now() - interval '1 hour'
    )`);
}

function chainRow({ chain_id, chain_name: name, chain_facts }: RegisteredFeed) {
  const {
    nativeSymbol: native_symbol,
    nativeDecimals: native_decimals,
    explorerUrl: explorer_url,
  } = chain_facts ?? chainFacts(chain_id, {});
  return { chain_id, name, native_symbol, native_decimals, explorer_url };
}

/** The configuration, reduced to feeds that are registered already. */
export const onlyRegistered = async (
  db: Pick<Database, 'execute'>,
  chains: readonly ChainSettings[],
) => onlyFeeds(chains, await execute(db).values(z.string)`select feed from etl.feeds`);

/** The configuration, reduced to some feeds. */
export const onlyFeeds = (chains: readonly ChainSettings[], feeds: readonly string[]) =>
  withSettings(chains, (feed, settings) => (feeds.includes(feedName(feed)) ? settings : null));

/** The chains with other settings of each feed; null: without it. */
const withSettings = (
  chains: readonly ChainSettings[],
  settingsOf: (feed: Feed, settings: FeedSettings) => FeedSettings | null,
): ChainSettings[] =>
  chains.map((chain) => ({
    ...chain,
    operations: Object.fromEntries(
      feedsIn([chain]).flatMap(({ operation, settings }) => {
        const own = settingsOf({ chain_id: chain.id, operation }, settings);
        return own === null ? [] : [[operation, own]];
      }),
    ),
  }));

/** The explorer that a configuration reads from. */
export interface ExplorerSource {
  readonly origin: string;
  /** Whether the user states that both explorers serve the same data (`--same-data`). */
  readonly isSameData: boolean;
}

/** The part of an explorer's URL that identifies its data; never a key, a user or a query. */
export function originOf(baseUrl: string): string {
  const { protocol, host, pathname } = new URL(baseUrl);
  return `${protocol}//${host}${pathname.replace(/\/+$/u, '')}`;
}

/** Feeds have data of another explorer, maybe of another chain: nothing could separate the rows. */
export class OriginError extends errorOf('other-explorer') {}

type ClaimedFeed = Readonly<Record<'feed' | 'origin', string>>;

/**
 * Records the explorer that feeds are read from, and fences workers that read from another.
 * @throws OriginError if a feed has pages of another explorer, or rows since its reset, unless `isSameData`
 */
async function claimFeeds(
  tx: Transaction,
  feeds: readonly Feed[],
  { origin, isSameData }: ExplorerSource,
): Promise<void> {
  const rows = await execute(tx).rows(() =>
    z.object({ feed: z.string(), origin: z.string().nullable(), has_data: z.boolean() }),
  )`
    select feed, origin, exists (
      select from etl.walks where walks.feed = feeds.feed and pages > 0
    ) or rows_before > 0 and reset_at is not null as has_data
    from etl.feeds
    where feed = any(${sql.param(feeds.map(feedName))}::text[]) and origin is distinct from ${origin}
    order by chain_id, operation
    for no key update
  `;
  const others = rows.flatMap(({ feed, origin: from, has_data }) =>
    has_data && from !== null ? [{ feed, origin: from }] : [],
  );
  if (others.length > 0 && !isSameData) throw new OriginError(mismatchMessage(others, origin));
  if (rows.length === 0) return;
  const names = sql.param(rows.map(({ feed }) => feed));
  await tx.execute(sql`
    update etl.feeds set origin = ${origin}, updated_at = now() where feed = any(${names}::text[])
  `);
  await tx.execute(sql`
    update etl.walks set revision = revision + 1 where feed = any(${names}::text[]) and state = 'running'
  `);
  await dropUnreadHosts(tx);
}

/** Ends the outages of explorers that no feed is read from any more: no answer would. */
export const dropUnreadHosts = (tx: Transaction) =>
  tx.execute(sql`
    delete from etl.hosts where not exists (select from etl.feeds where feeds.origin = hosts.origin)
  `);

function mismatchMessage(others: readonly ClaimedFeed[], origin: string): string {
  const lines = [...Map.groupBy(others, ({ origin: from }) => from)].map(([from, feeds]) => {
    const names = feeds.map(({ feed }) => feed).join(', ');
    return `the data of ${names} came from ${printable(from)}`;
  });
  return `${lines.join('; ')}; the explorer is now ${printable(origin)}. Set EXPLORER_BASE_URL or explorer.base_url as it was, use another database, or say with --same-data, once, that both serve the same chains.`;
}

/**
 * The chains with each feed's bounds: those of this command, else the file's. Without a file, those of the last command
 * that had none, else of the file that named the feed last: history that it left out costs credits.
 */
export async function withTargets(
  db: Database,
  { configFile, chains }: Pick<Settings, 'configFile' | 'chains'>,
  bounds: ScopeBounds = {},
): Promise<ChainSettings[]> {
  const rows = await execute(db).rows(() =>
    z.object({ feed: z.string(), bounds: z.record(z.string(), z.unknown()) }),
  )`
    select feed, coalesce(target, settings) as bounds from etl.feeds
  `;
  const stored = new Map(rows.map(({ feed, bounds: own }) => [feed, own]));
  return withSettings(chains, (feed, settings) => {
    const { operation } = feed;
    const known = (configFile === null ? stored.get(feedName(feed)) : null) ?? {};
    const earlier = Object.fromEntries(boundSettings(operation, known));
    return { ...settings, ...(targetOf(operation, settings, bounds) ?? earlier) };
  });
}

export const configuredLaneShape = () =>
  z.object({
    lane: feedLaneShape(),
    cron: z.string(),
    timezone: z.string(),
    scope: z.record(z.string(), z.unknown()),
  });
export type ConfiguredLane = Readonly<z.infer<ReturnType<typeof configuredLaneShape>>>;

/** Every feed of the configuration; `bounds` are a command's. */
export function configuredFeeds(
  chains: readonly ChainSettings[],
  bounds: ScopeBounds = {},
): RegisteredFeed[] {
  return feedsIn(chains).map(({ chain, operation, settings }) => ({
    chain_id: chain.id,
    chain_name: chain.name,
    operation,
    chain_facts: chainFacts(chain.id, chain),
    settings: { ...settings },
    target: targetOf(operation, settings, bounds),
  }));
}

/** Each feed of the configuration, chain by chain. */
export const feedsIn = (chains: readonly ChainSettings[]) =>
  chains.flatMap((chain) =>
    operationNames.flatMap((operation) => {
      const settings = chain.operations[operation];
      return settings === undefined ? [] : [{ chain, operation, settings }];
    }),
  );

/** Every lane of the configuration, with what one run of it covers. */
export function configuredLanes(
  chains: readonly ChainSettings[],
  bounds: ScopeBounds = {},
): ConfiguredLane[] {
  return feedsIn(chains).flatMap(({ chain, operation, settings }) => {
    const lanes = kindOf(operation).lanes(settings, boundsOn(operation, bounds));
    return lanes.map(({ lane, scope }) => ({
      lane: { chain_id: chain.id, operation, lane },
      cron: settings.schedule,
      timezone: settings.timezone,
      scope,
    }));
  });
}

/** Stores the wanted target ranges: the configuration's, or a command's flags. */
export async function reconcileTargets(db: Database, targets: readonly Target[]): Promise<void> {
  for (const group of Map.groupBy(targets, ({ lane }) => feedName(lane)).values()) {
    const [first] = group;
    if (first === undefined) continue;
    const scopes = group.map(({ scope }) => scope);
    await kindOf(first.lane.operation).noteTarget(db, first.lane, scopes, 'replace');
  }
}

/** Those of feeds that no file names. */
export async function unnamed(db: Database, targets: readonly Target[]): Promise<Target[]> {
  const named = await execute(db).values(z.string)`
    select feed from etl.lanes where wanted_by <> '{}'
  `;
  return targets.filter(({ lane }) => !named.includes(feedName(lane)));
}

/** What a run covers that a lane is due for at `at`; null: it has no work, or is paused. A list that is not served is polled rarely. */
export async function dueScope(
  db: Database,
  target: Target,
  occasion: Occasion,
  at: Date,
): Promise<RunScope | null> {
  const { lane, scope } = target;
  const isWaiting = await execute(db).has`
    select from etl.lanes join etl.feeds using (feed)
    where ${ofLane(lane)}
      and (paused_at is not null or (${occasion !== 'sync'} and poll_again_at > now()))
  `;
  if (isWaiting || !(await kindOf(lane.operation).isDue(db, target, occasion, at))) return null;
  // A person's request is read now, whatever its interval.
  return occasion === 'sync' && hasHistory(lane.operation) ? { ...scope, at_once: true } : scope;
}

/** A cron of five fields. */
export type Cron = Pick<ConfiguredLane, 'cron' | 'timezone'>;

/** When a schedule fires next after a time; what never comes, such as 30 February, is no schedule. */
export const nextFiring = ({ cron, timezone }: Cron, at: Date) =>
  CronExpressionParser.parse(cron, { tz: timezone, currentDate: at }).next().toDate();

/** When the first schedule fires after a time; null without one. */
export function nextPoll(lanes: readonly ConfiguredLane[], after: Date): Date | null {
  const due = lanes.map((lane) => nextFiring(lane, after).getTime());
  return due.length === 0 ? null : new Date(Math.min(...due));
}

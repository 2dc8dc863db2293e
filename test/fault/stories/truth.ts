import type { Pool } from 'pg';
import { tableName } from '../../../src/db/column-types.ts';
import { type OperationName, operations } from '../../../src/lists/registry.ts';
import type { VerifiedFeed } from '../../../src/status/verify.ts';
import { isNewest, itemsOf, newestLists } from '../../harness/kept.ts';
import { chainId } from './program.ts';
import type { Truth } from './world.ts';

/** The truth in a round, and when the round began, by both clocks. */
export interface Moment {
  readonly truth: Truth;
  /** By the clock that the program was given; years ahead of the other one. */
  readonly drivenMs: number;
  /** By the clock of the database. */
  readonly realMs: number;
}

/** A list as a set of facts, spelled so that equal ones are equal text. */
type Facts = ReadonlySet<string>;

/** What is true of a list; of the list of batches nothing is compared. */
function factsIn(list: OperationName, truth: Truth): Facts {
  const { kind } = operations[list];
  if (isNewest(list)) {
    const { fee } = newestLists[list];
    const items = itemsOf(truth, list);
    return new Set(items.map(({ value, key, printed }) => [value, key, printed[fee]].join('|')));
  }
  if (kind === 'ranked') {
    return new Set(itemsOf(truth, list).map(({ value, key }) => `${value}|${key}`));
  }
  if (kind === 'newest-first') return new Set();
  const batches = [...truth.batches.keys()];
  return new Set(
    batches.flatMap((batch) =>
      itemsOf(truth, list, batch).map(({ value, printed }) =>
        [batch, value, printed['hash'], printed['parent_hash']].join('|'),
      ),
    ),
  );
}

/** A fact as it is shown: hashes by their ends. */
const abridged = (fact: string) =>
  fact.replaceAll(/0x[0-9a-f]+/gu, (hash) => `${hash.slice(0, 6)}…${hash.slice(-4)}`);

/** The number that a fact begins with. */
const placeOf = (fact: string) => Number(fact.split('|')[0]);

/** The statement for what is stored of a feed. */
function storedOf(feed: OperationName): string {
  const { table, order, ...list } = operations[feed];
  if (isNewest(feed)) {
    const key = order?.key.map(({ column }) => column).join();
    return `
      select concat_ws('|', block_number, concat_ws(',', ${key}), ${newestLists[feed].fee}) as fact
      from ${tableName(table)}
      where chain_id = $1 and removed_at is null and block_number is not null`;
  }
  if (!('ranking' in list)) {
    return `
      select concat_ws('|', optimism_batch_number, height, hash, coalesce(parent_hash, '-')) as fact
      from explorer.blocks
      where chain_id = $1 and optimism_batch_number is not null`;
  }
  return `
    select concat_ws('|', coalesce(${list.ranking.total}::text, '-'), address_hash) as fact
    from ${tableName(table)}
    where chain_id = $1 and rank is not null`;
}

/**
 * What the newest ranking published, if there is one: a row's own count is that of the newest page, which
 * may be one of a ranking that is under way.
 */
function publishedOf(feed: OperationName): string {
  const list = operations[feed];
  if (!('ranking' in list)) return storedOf(feed);
  const { table, ranking } = list;
  return `
    select concat_ws('|', coalesce(last.total::text, '-'), address_hash) as fact
    from ${tableName(table)} as item
    left join lateral (
      select ${ranking.total} as total
      from ${tableName(ranking.history)} as seen
      where seen.chain_id = item.chain_id and seen.address_hash = item.address_hash
      order by observed_at desc
      limit 1
    ) as last on true
    where chain_id = $1 and rank is not null`;
}

async function factsOf(pool: Pool, query: string): Promise<Facts> {
  const { rows } = await pool.query<{ fact: string }>(query, [chainId]);
  return new Set(rows.map(({ fact }) => fact));
}

/** The keys of what is stored of a list that is newest first, also where its block is not known. */
function keysOf(pool: Pool, feed: keyof typeof newestLists): Promise<Facts> {
  const { table, order } = operations[feed];
  const key = order?.key.map(({ column }) => column).join();
  return factsOf(
    pool,
    `select concat_ws(',', ${key}) as fact
     from ${tableName(table)}
     where chain_id = $1 and removed_at is null`,
  );
}

/** The rounds in which something may have been seen that is said to be true as of a time. */
function since(moments: readonly Moment[], asOf: string | Date): readonly Moment[] {
  const ms = new Date(asOf).getTime();
  const clock = ms >= (moments[0]?.drivenMs ?? 0) ? 'drivenMs' : 'realMs';
  const begun = moments.findLastIndex((moment) => moment[clock] <= ms);
  return moments.slice(Math.max(0, begun));
}

/** How many wrong facts are shown. */
const shown = 3;

/**
 * What of the facts in a range was at none of some moments as it is stored. Each fact for itself:
 * one walk may read a list's head in one round and its end in another.
 * @param givenUp how many may be missing, as verify says they were dropped; of rankings, where items have no place
 */
function wrongFacts(
  held: Facts,
  truths: readonly Facts[],
  isInside: (fact: string) => boolean,
  givenUp = 0,
) {
  const { missing, untrue } = differing(held, truths, isInside);
  const say = (what: string, facts: readonly string[]) =>
    facts.length === 0
      ? []
      : [`${facts.length} ${what}: ${facts.toSorted().slice(0, shown).map(abridged).join(', ')}`];
  const unsaid = missing.length > givenUp ? missing : [];
  return [...say('missing', unsaid), ...say('that never were', untrue)];
}

function differing(held: Facts, truths: readonly Facts[], isInside: (fact: string) => boolean) {
  const missing: string[] = [];
  const untrue: string[] = [];
  const known = new Set([...held, ...truths.flatMap((truth) => [...truth])]);
  for (const fact of known) {
    if (!isInside(fact)) continue;
    const isHeld = held.has(fact);
    if (truths.some((truth) => truth.has(fact) === isHeld)) continue;
    (isHeld ? untrue : missing).push(fact);
  }
  return { missing, untrue };
}

/** Batches that the list of batches has, as it is stored, and no block of which is. */
async function listedAlone(pool: Pool, moments: readonly Moment[]): Promise<string[]> {
  const ever = new Set(
    moments.flatMap(({ truth }) =>
      truth.listed.map(({ number, blocks }) => `${number}|${blocks?.[0]}`),
    ),
  );
  const { rows } = await pool.query<{ number: string; item: string }>(
    `select batch_number as number, concat_ws('|', batch_number, l2_start_block_number) as item from explorer.listed_batches as listed
     where chain_id = $1 and removed_at is null and not exists (
       select from explorer.blocks
       where blocks.chain_id = listed.chain_id and optimism_batch_number = batch_number
     )
     order by 1`,
    [chainId],
  );
  // An item that the list never had stays until the list grows beyond it, if its number comes to be too.
  const alone = rows.filter(({ item }) => ever.has(item));
  return alone.map(({ number }) => `batch ${number} is listed, and has no block`);
}

/** Where items were that a person dropped from quarantine: below what is wanted, nothing reads there again. */
async function droppedPlaces(pool: Pool, feed: string) {
  const { rows } = await pool.query<{ from: number; to: number }>(
    `select from_block::float8 as from, to_block::float8 as to
     from etl.quarantine where feed = $1 and dropped_at is not null and from_block is not null`,
    [feed],
  );
  return rows;
}

/** Items that pages showed and no row has. Those that are alike, as `blank-items` are, are one in quarantine. */
async function leftOut(pool: Pool, feed: string): Promise<number> {
  const { rows } = await pool.query<{ items: number }>(
    'select coalesce(sum(quarantined + repeats), 0)::int as items from etl.pages where feed = $1',
    [feed],
  );
  return rows[0]?.items ?? 0;
}

/** What is false in a report that its feed is complete; empty when nothing is. */
export async function falseClaims(
  pool: Pool,
  report: VerifiedFeed,
  moments: readonly Moment[],
  lowestWanted: number,
): Promise<string[]> {
  const feed = report.operation as OperationName;
  const held = await factsOf(pool, publishedOf(feed));
  const { covered, notes } = report;
  const dropped = await droppedPlaces(pool, report.feed);
  const isGivenUp = (place: number) =>
    place < lowestWanted && dropped.some(({ from, to }) => place >= from && place <= to);
  const isRanked = operations[feed].kind === 'ranked';
  const isGiven = notes.some(({ sentence }) => sentence.startsWith('not stored: at least '));
  const given = isRanked && isGiven ? await leftOut(pool, report.feed) : 0;
  const head = notes.filter(({ kind }) => kind === 'pending-head');
  const claims = covered.flatMap(({ from, to, as_of }) => {
    const seen = since(moments, as_of);
    const truths = seen.map(({ truth }) => factsIn(feed, truth));
    const inside = (fact: string) =>
      isRanked || (placeOf(fact) >= from && placeOf(fact) <= to && !isGivenUp(placeOf(fact)));
    const wrong = wrongFacts(held, truths, inside, given);
    if (!isNewest(feed)) return wrong;
    const highest = Math.max(...truths.flatMap((truth) => [...truth].map(placeOf)));
    return to > highest ? [...wrong, `covered to ${to}, above ${highest}, the newest`] : wrong;
  });
  if (feed === 'optimism-batch-blocks') claims.push(...(await listedAlone(pool, moments)));
  const everListed = moments.every(({ truth }) => factsIn(feed, truth).size > 0);
  if (covered.length + head.length === 0 && everListed) claims.push('nothing was read');
  if (isNewest(feed)) {
    const lowest = Math.min(
      ...moments
        .flatMap(({ truth }) => [...factsIn(feed, truth)].map(placeOf))
        .filter((block) => block >= lowestWanted),
    );
    if (covered.length > 0 && !covered.some(({ from }) => from <= lowest)) {
      claims.push(`covered from ${covered[0]?.from}, above ${lowest}, the oldest`);
    }
  }
  // A list that never stands still is read three times; that its ranking may be wrong is said then.
  const isQualified = notes.some(({ sentence }) => sentence.startsWith('rows still moved'));
  return isQualified ? [] : claims;
}

/** How what is stored differs from the truth now; of batches, in those that have blocks. */
export async function differencesFrom(
  pool: Pool,
  feed: OperationName,
  truth: Truth,
  lowestWanted: number,
): Promise<string[]> {
  const held = await factsOf(pool, storedOf(feed));
  const isWanted = (fact: string) => !isNewest(feed) || placeOf(fact) >= lowestWanted;
  return wrongFacts(held, [factsIn(feed, truth)], isWanted);
}

/** The number below which what is stored is the truth now, as far as it is wanted. */
export async function trueBelow(
  pool: Pool,
  feed: OperationName,
  truth: Truth,
  lowestWanted: number,
): Promise<number> {
  const held = await factsOf(pool, storedOf(feed));
  const isWanted = (fact: string) => !isNewest(feed) || placeOf(fact) >= lowestWanted;
  const { missing, untrue } = differing(held, [factsIn(feed, truth)], isWanted);
  return Math.min(...[...missing, ...untrue].map(placeOf));
}

/** Items above what is covered that were listed since the last walk from the head began, and are not stored. */
export async function missedAbove(
  pool: Pool,
  { feed, covered }: VerifiedFeed,
  list: keyof typeof newestLists,
  moments: readonly Moment[],
): Promise<string[]> {
  const { rows } = await pool.query<{ begun: Date }>(
    `select opened_at as begun
     from etl.walks join etl.runs on runs.id = run_id
     where walks.feed = $1 and walks.state = 'finished' and from_head
     order by walks.id desc
     limit 1`,
    [feed],
  );
  const [walk] = rows;
  if (walk === undefined) return [];
  const held = await keysOf(pool, list);
  const highest = Math.max(...covered.map(({ to }) => to));
  const [first, ...later] = since(moments, walk.begun).map(({ truth }) => factsIn(list, truth));
  const missed = [...(first ?? [])].filter(
    (fact) =>
      placeOf(fact) > highest &&
      !held.has(fact.split('|')[1] ?? '') &&
      later.every((truth) => truth.has(fact)),
  );
  return missed.length === 0 ? [] : [`${missed.length} missing above ${highest}`];
}

/** Items of these that are listed between two blocks, and not stored. */
export async function lateAndMissed(
  pool: Pool,
  feed: keyof typeof newestLists,
  { truth, late }: { readonly truth: Truth; readonly late: readonly number[] },
  { top, bottom }: { readonly top: number; readonly bottom: number },
): Promise<string[]> {
  const held = await keysOf(pool, feed);
  return late.flatMap((id) => {
    const own = truth.operations.filter((operation) => operation.id === id);
    const [item] = itemsOf({ ...truth, operations: own }, feed);
    const isWithin = item !== undefined && item.value <= top && item.value >= bottom;
    return isWithin && !held.has(item.key) ? [`late at ${item.value}, below ${top}`] : [];
  });
}

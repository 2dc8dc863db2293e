import type { RunScope } from '../../../src/lists/tables.ts';
import { pageItems, type SeededList, type SeededSize } from './size.ts';
import { beforeNow } from './values.ts';

/** The highest number of runs, walks and pages so far: all are numbered by hand. */
export interface Numbers {
  run: number;
  walk: number;
  page: number;
}

/** A feed's lane as its runs and walks name it. */
export interface SeededLane {
  readonly chain: number;
  readonly operation: string;
  readonly kind: string;
  readonly lane: 'live' | 'backfill';
  readonly scope: RunScope;
}

/** A list that polls have followed, from `base` to `top`. */
export interface Followed {
  readonly of: SeededLane;
  readonly list: SeededList;
  /** Items that are new at a poll. */
  readonly rate: number;
  readonly pagesPerPoll: number;
  /** How far below the top of before a poll goes, in items. */
  readonly overlap: number;
  /** The cursor that the page below an item is requested with, and the item's key; as SQL. */
  readonly cursor: (height: string) => string;
  readonly key: (height: string) => string;
  /** The poll that was lost; null: none was. */
  readonly lost: number | null;
}

/** The feed's name. */
export const feedOf = ({ chain, operation }: SeededLane) => `${chain}/${operation}`;

const text = (value: unknown) => `'${JSON.stringify(value)}'`;

/** Runs, one after the other: `(n)` begins at a time. */
export function runs(
  { chain, operation, lane, scope }: SeededLane,
  { first, count, at, latestBatchBefore = 'null' }: RunSeries,
): string {
  return `
    insert into etl.runs (id, chain_id, operation, lane, scope, state, latest_batch_before, opened_at, closed_at)
    select ${first} + n, ${chain}, '${operation}', '${lane}', ${text(scope)}::jsonb, 'finished',
           (${latestBatchBefore})::bigint, ${at}, ${at} + interval '1 second'
    from generate_series(1, ${count}) as n`;
}

interface RunSeries {
  readonly first: number;
  readonly count: number;
  readonly at: string;
  readonly latestBatchBefore?: string;
}

/** What walks say, as SQL over a number `n`. */
interface WalkSeries {
  readonly of: SeededLane;
  readonly first: number;
  readonly count: number;
  readonly run: string;
  readonly at: string;
  readonly columns: Readonly<Record<string, string>>;
  readonly but?: string;
}

/** Walks that have ended. */
export function walks({ of, first, count, run, at, columns, but = 'false' }: WalkSeries): string {
  const told: Readonly<Record<string, string>> = {
    id: `${first} + n`,
    chain_id: String(of.chain),
    operation: `'${of.operation}'`,
    lane: `'${of.lane}'`,
    run_id: run,
    kind: `'${of.kind}'`,
    scope: `'{}'::jsonb`,
    state: `'finished'`,
    revision: '2',
    started_at: at,
    updated_at: `${at} + interval '1 second'`,
    finished_at: `${at} + interval '1 second'`,
    ...columns,
  };
  return `
    insert into etl.walks (${Object.keys(told).join(', ')})
    select ${Object.values(told).join(', ')}
    from generate_series(1, ${count}) as n
    where not (${but})`;
}

/** What pages say, as SQL over the number `n` of their walk and their place `s` in it, from 0. */
interface PageSeries {
  readonly feed: string;
  readonly firstWalk: number;
  readonly firstPage: number;
  readonly walks: number;
  readonly pages: number;
  readonly at: string;
  readonly columns: Readonly<Record<string, string>>;
  readonly but?: string;
}

/** Pages of walks that have as many each. */
export function pages(series: PageSeries): string {
  const {
    feed,
    firstWalk,
    firstPage,
    walks: count,
    pages: each,
    at,
    columns,
    but = 'false',
  } = series;
  const told: Readonly<Record<string, string>> = {
    id: `${firstPage} + (n - 1) * ${each}::bigint + s + 1`,
    walk_id: `${firstWalk} + n`,
    feed: `'${feed}'`,
    sequence: 's',
    items: String(pageItems),
    rows: String(pageItems),
    repeats: '0',
    quarantined: '0',
    inserted: '0',
    changed: '0',
    bytes: '20000',
    body_hash: `md5(n || ' ' || s)`,
    attempts: '1',
    latency_ms: '80',
    credits: '20',
    fetched_at: at,
    ...columns,
  };
  return `
    insert into etl.pages (${Object.keys(told).join(', ')})
    select ${Object.values(told).join(', ')}
    from generate_series(1, ${count}) as n, generate_series(0, ${each} - 1) as s
    where not (${but})`;
}

/** When poll `n` of a list was, as SQL. */
export const pollTime = (size: SeededSize, { polls }: SeededList) =>
  beforeNow(size, `(${polls} - n) * ${size.pollMs}::bigint`);

/** The item that poll `n` found newest, as SQL. */
export const pollTop = ({ base }: SeededList, rate: number, poll = 'n') =>
  `(${base} + floor(${poll} * ${rate}::numeric)::bigint)`;

/** A walk from the head at `base` to the list's end, in one run. */
export function history(size: SeededSize, numbers: Numbers, followed: Followed): string[] {
  const { of, list, cursor, key } = followed;
  const { base, polls: after } = list;
  const count = Math.ceil(base / pageItems);
  const at = beforeNow(size, `${after + 1} * ${size.pollMs}::bigint`);
  const top = `${base} - s * ${pageItems}`;
  const bottom = `greatest(1, ${base} - (s + 1) * ${pageItems} + 1)`;
  const statements = [
    runs(of, { first: numbers.run, count: 1, at }),
    walks({
      of,
      first: numbers.walk,
      count: 1,
      run: String(numbers.run + 1),
      at,
      columns: {
        verified: `int8multirange(int8range(0, ${base}))`,
        top: String(base),
        bottom: '1',
        pages: String(count),
        items: String(base),
        inserted: String(base),
      },
    }),
    pages({
      feed: feedOf(of),
      firstWalk: numbers.walk,
      firstPage: numbers.page,
      walks: 1,
      pages: count,
      at: `${at} + s * interval '200 ms'`,
      columns: {
        cursor_in: `case when s > 0 then ${cursor(`(${top})`)} end`,
        cursor_out: `case when s < ${count - 1} then ${cursor(`(${bottom} - 1)`)} end`,
        inserted: String(pageItems),
        top,
        bottom,
        last_key: key(bottom),
      },
    }),
  ];
  numbers.run += 1;
  numbers.walk += 1;
  numbers.page += count;
  return statements;
}

/** A run, a walk and its pages for each poll, down past the top of the poll before. */
export function follow(size: SeededSize, numbers: Numbers, followed: Followed): string[] {
  const { of, list, rate, pagesPerPoll, overlap, cursor, key, lost } = followed;
  const at = pollTime(size, list);
  const top = pollTop(list, rate);
  const before = pollTop(list, rate, '(n - 1)');
  const lowest = `(${top} - ${pagesPerPoll * pageItems - 1})`;
  const bottom = `(${top} - (s + 1) * ${pageItems} + 1)`;
  const but = lost === null ? 'false' : `n = ${lost}`;
  const statements = [
    runs(of, { first: numbers.run, count: list.polls, at }),
    walks({
      of,
      first: numbers.walk,
      count: list.polls,
      run: `${numbers.run} + n`,
      at,
      but,
      columns: {
        reason: `'floor'`,
        cursor: cursor(`(${lowest} - 1)`),
        floor: `${before} - 1 - ${overlap}`,
        // Every tenth goes as deep as a short rule.
        depth_ms: 'case when n % 10 = 0 then 300000 else 30000 end',
        verified: `int8multirange(int8range(${lowest} + 1, ${top}))`,
        range_top: top,
        top,
        bottom: lowest,
        pages: String(pagesPerPoll),
        items: String(pagesPerPoll * pageItems),
        inserted: `${top} - ${before}`,
      },
    }),
    pages({
      feed: feedOf(of),
      firstWalk: numbers.walk,
      firstPage: numbers.page,
      walks: list.polls,
      pages: pagesPerPoll,
      at,
      but,
      columns: {
        cursor_in: `case when s > 0 then ${cursor(`(${top} - s * ${pageItems})`)} end`,
        cursor_out: cursor(`(${bottom} - 1)`),
        top: `(${top} - s * ${pageItems})`,
        bottom,
        last_key: key(bottom),
      },
    }),
  ];
  numbers.run += list.polls;
  numbers.walk += list.polls;
  numbers.page += list.polls * pagesPerPoll;
  return statements;
}

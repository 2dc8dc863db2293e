import type { PgTable } from 'drizzle-orm/pg-core';
import { tableName } from '../../../src/db/column-types.ts';
import { feedName } from '../../../src/lists/feed.ts';
import type { Target } from '../../../src/lists/list.ts';
import { operations } from '../../../src/lists/registry.ts';
import { beforeNow, pageItems, type SeededList, type SeededSize } from './size.ts';

/** Columns as SQL over the number `n` of a row or a walk and, of a page, its place `s` in it, from 0. */
type Columns = Readonly<Record<string, string>>;

/** Rows of a table as the program would have written them. */
interface Filling {
  readonly table: PgTable;
  readonly chain: number;
  readonly count: number;
  readonly columns: Columns;
  /** When each was stored, and by which page. */
  readonly stored: { readonly at: string; readonly page: string };
  /** What of the numbers is left out, if anything. */
  readonly but?: string;
}

/** Runs with walks that have ended and their pages; each walk begins at a time. */
interface Series {
  readonly of: Target;
  /** One run that all walks are of, or one for each. */
  readonly runs: {
    readonly count: number;
    readonly at?: string;
    readonly latestBatchBefore?: string;
  };
  readonly walks: number;
  /** How many each walk has. */
  readonly pages: number;
  readonly at: string;
  /** What they say: several where walks differ, each without those of a condition. */
  readonly says: readonly {
    readonly but?: string;
    readonly walk: Columns;
    readonly page: Columns;
    readonly pagesBut?: string;
  }[];
}

const text = (value: unknown) => `'${JSON.stringify(value)}'`;
const upTo = (count: number) => `generate_series(1, ${count}) as n`;

/** The statements that write a year of polls. */
export class Ledger {
  readonly statements: string[] = [];
  readonly size: SeededSize;
  /** The highest number of runs, walks and pages so far: all are numbered by hand. */
  run = 0;
  walk = 0;
  page = 0;

  constructor(size: SeededSize) {
    this.size = size;
  }

  #insert(table: string, from: string, columns: Columns, but = 'false'): void {
    this.statements.push(`
      insert into ${table} (${Object.keys(columns).join(', ')})
      select ${Object.values(columns).join(', ')}
      from ${from} where not (${but})`);
  }

  /** Rows that the program would have written. */
  rows({ table, chain, count, columns, stored: { at, page }, but }: Filling): void {
    const stored = { first_seen_at: at, updated_at: at, page_id: `(${page})::bigint` };
    const all = { chain_id: `${chain}::bigint`, ...columns, ...stored };
    this.#insert(tableName(table), upTo(count), all, but);
  }

  /** Runs, their walks and pages. */
  series({ of: { lane, scope }, runs, walks, pages, at, says }: Series): void {
    const begun = runs.at ?? at;
    const own = {
      chain_id: String(lane.chain_id),
      operation: `'${lane.operation}'`,
      lane: `'${lane.lane}'`,
    };
    const kind = `'${operations[lane.operation].kind}'`;
    const [walk, page] = [`${this.walk} + n`, `${this.page} + (n - 1) * ${pages}::bigint + s + 1`];
    this.#insert('etl.runs', upTo(runs.count), {
      id: `${this.run} + n`,
      ...own,
      scope: `${text(scope)}::jsonb`,
      state: `'finished'`,
      latest_batch_before: `(${runs.latestBatchBefore ?? 'null'})::bigint`,
      opened_at: begun,
      closed_at: `${begun} + interval '1 second'`,
    });
    for (const { walk: columns, but } of says) {
      const ended = `${at} + interval '1 second'`;
      const run_id = runs.count === 1 ? String(this.run + 1) : `${this.run} + n`;
      const fixed = { id: walk, ...own, run_id, kind, scope: `'{}'::jsonb`, state: `'finished'` };
      const times = { started_at: at, updated_at: ended, finished_at: ended };
      const all = { ...fixed, revision: '2', ...times, ...columns };
      this.#insert('etl.walks', upTo(walks), all, but);
    }
    for (const { page: columns, but, pagesBut = but } of says) {
      const from = `${upTo(walks)}, generate_series(0, ${pages} - 1) as s`;
      const items = { items: String(pageItems), rows: String(pageItems), repeats: '0' };
      const fixed = { quarantined: '0', inserted: '0', changed: '0', bytes: '20000' };
      const spent = { attempts: '1', latency_ms: '80', credits: '20', fetched_at: at };
      const named = { id: page, walk_id: walk, feed: `'${feedName(lane)}'`, sequence: 's' };
      const body_hash = `md5(n || ' ' || s)`;
      const all = { ...named, ...items, ...fixed, body_hash, ...spent, ...columns };
      this.#insert('etl.pages', from, all, pagesBut);
    }
    this.run += runs.count;
    this.walk += walks;
    this.page += walks * pages;
  }
}

/** When poll `n` of a list was, as SQL. */
export const pollTime = (size: SeededSize, { polls }: SeededList, poll = 'n') =>
  beforeNow(size, `(${polls} - ${poll}) * ${size.pollMs}::bigint`);

/** The item that poll `n` found newest, as SQL. */
export const pollTop = ({ base }: SeededList, rate: number, poll = 'n') =>
  `(${base} + floor(${poll} * ${rate}::numeric)::bigint)`;

/** The lanes of a feed, as its configuration has them. */
export interface Lanes {
  readonly live: Target;
  readonly backfill: Target;
}

/** A newest-first list: a walk from the head at `base` to its end, then a poll each so often. */
interface Followed {
  readonly table: PgTable;
  readonly chain: number;
  readonly list: SeededList;
  readonly columns: Columns;
  /** Items that are new at a poll. */
  readonly rate: number;
  readonly pagesPerPoll: number;
  /** How far below the top of before a poll goes, in items. */
  readonly overlap: number;
  /** The cursor that the page below an item is requested with, and the item's key; as SQL. */
  readonly cursor: (height: string) => string;
  readonly key: (height: string) => string;
  /** The poll that was lost, if one was. */
  readonly lost?: number;
}

/** Pages that one transaction of a backfill writes. */
const pagesAtOnce = 16;

export function growNewestFirst(ledger: Ledger, lanes: Lanes, followed: Followed): void {
  const { table, chain, list, columns, rate, pagesPerPoll } = followed;
  const { size } = ledger;
  const { base } = list;
  const historyFirst = ledger.page;
  readHistory(ledger, lanes.backfill, followed);
  const pollsFirst = ledger.page;
  followHead(ledger, lanes.live, followed);
  // An item is of the page of the history that had it, or of the first of the poll that met it.
  const met = `ceil((n - ${base}) / ${rate}::numeric)::bigint`;
  const begun = beforeNow(size, `${list.polls + 1} * ${size.pollMs}::bigint`);
  const transaction = `(${base} - n) / ${pageItems * pagesAtOnce}`;
  const stored = {
    at: `case when n > ${base} then ${pollTime(size, list, met)}
              else ${begun} + (${transaction}) * interval '1 second' end`,
    page: `case when n > ${base} then ${pollsFirst} + (${met} - 1) * ${pagesPerPoll} + 1
                else ${historyFirst} + (${base} - n) / ${pageItems} + 1 end`,
  };
  ledger.rows({ table, chain, count: list.top, columns, stored });
}

function readHistory(ledger: Ledger, of: Target, { list, cursor, key }: Followed): void {
  const { base, polls: after } = list;
  const { size } = ledger;
  const pages = Math.ceil(base / pageItems);
  const at = beforeNow(size, `${after + 1} * ${size.pollMs}::bigint`);
  const top = `${base} - s * ${pageItems}`;
  const bottom = `greatest(1, ${base} - (s + 1) * ${pageItems} + 1)`;
  const walk = {
    verified: `int8multirange(int8range(0, ${base}))`,
    top: String(base),
    bottom: '1',
    pages: String(pages),
    items: String(base),
    inserted: String(base),
  };
  const page = {
    fetched_at: `${at} + s * interval '200 ms'`,
    cursor_in: `case when s > 0 then ${cursor(`(${top})`)} end`,
    cursor_out: `case when s < ${pages - 1} then ${cursor(`(${bottom} - 1)`)} end`,
    inserted: String(pageItems),
    top,
    bottom,
    last_key: key(bottom),
  };
  ledger.series({ of, runs: { count: 1 }, walks: 1, pages, at, says: [{ walk, page }] });
}

/** A run, a walk and its pages for each poll, down past the top of the poll before. */
function followHead(ledger: Ledger, of: Target, followed: Followed): void {
  const { list, rate, pagesPerPoll, overlap, cursor, key, lost } = followed;
  const top = pollTop(list, rate);
  const before = pollTop(list, rate, '(n - 1)');
  const lowest = `(${top} - ${pagesPerPoll * pageItems - 1})`;
  const bottom = `(${top} - (s + 1) * ${pageItems} + 1)`;
  const walk = {
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
  };
  const page = {
    cursor_in: `case when s > 0 then ${cursor(`(${top} - s * ${pageItems})`)} end`,
    cursor_out: cursor(`(${bottom} - 1)`),
    top: `(${top} - s * ${pageItems})`,
    bottom,
    last_key: key(bottom),
  };
  ledger.series({
    of,
    runs: { count: list.polls },
    walks: list.polls,
    pages: pagesPerPoll,
    at: pollTime(ledger.size, list),
    says: [{ walk, page, ...(lost !== undefined && { but: `n = ${lost}` }) }],
  });
}

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
const feedOf = ({ chain, operation }: SeededLane) => `${chain}/${operation}`;

const text = (value: unknown) => `'${JSON.stringify(value)}'`;

/** Columns as SQL over the number `n` of a walk and, of a page, its place `s` in it, from 0. */
type Columns = Readonly<Record<string, string>>;

/** Runs with walks that have ended and their pages; each walk begins at a time. */
interface Series {
  readonly of: SeededLane;
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

/** The statements that write a series. */
export function series(numbers: Numbers, { of, runs, walks, pages, at, says }: Series): string[] {
  const begun = runs.at ?? at;
  const run = runs.count === 1 ? String(numbers.run + 1) : `${numbers.run} + n`;
  const first = { walk: numbers.walk, page: numbers.page };
  const { chain, operation, lane } = of;
  const statements = [
    `insert into etl.runs (id, chain_id, operation, lane, scope, state, latest_batch_before, opened_at, closed_at)
     select ${numbers.run} + n, ${chain}, '${operation}', '${lane}', ${text(of.scope)}::jsonb, 'finished',
            (${runs.latestBatchBefore ?? 'null'})::bigint, ${begun}, ${begun} + interval '1 second'
     from generate_series(1, ${runs.count}) as n`,
    ...says.map(({ walk, but = 'false' }) =>
      insert('etl.walks', `generate_series(1, ${walks}) as n where not (${but})`, {
        id: `${first.walk} + n`,
        chain_id: String(chain),
        operation: `'${operation}'`,
        lane: `'${lane}'`,
        run_id: run,
        kind: `'${of.kind}'`,
        scope: `'{}'::jsonb`,
        state: `'finished'`,
        revision: '2',
        started_at: at,
        updated_at: `${at} + interval '1 second'`,
        finished_at: `${at} + interval '1 second'`,
        ...walk,
      }),
    ),
    ...says.map(({ page, but = 'false', pagesBut = but }) =>
      insert(
        'etl.pages',
        `generate_series(1, ${walks}) as n, generate_series(0, ${pages} - 1) as s where not (${pagesBut})`,
        {
          id: `${first.page} + (n - 1) * ${pages}::bigint + s + 1`,
          walk_id: `${first.walk} + n`,
          feed: `'${feedOf(of)}'`,
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
          ...page,
        },
      ),
    ),
  ];
  numbers.run += runs.count;
  numbers.walk += walks;
  numbers.page += walks * pages;
  return statements;
}

const insert = (table: string, from: string, columns: Columns) => `
  insert into ${table} (${Object.keys(columns).join(', ')})
  select ${Object.values(columns).join(', ')}
  from ${from}`;

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
  const walk = {
    verified: `int8multirange(int8range(0, ${base}))`,
    top: String(base),
    bottom: '1',
    pages: String(count),
    items: String(base),
    inserted: String(base),
  };
  const page = {
    fetched_at: `${at} + s * interval '200 ms'`,
    cursor_in: `case when s > 0 then ${cursor(`(${top})`)} end`,
    cursor_out: `case when s < ${count - 1} then ${cursor(`(${bottom} - 1)`)} end`,
    inserted: String(pageItems),
    top,
    bottom,
    last_key: key(bottom),
  };
  return series(numbers, {
    of,
    runs: { count: 1 },
    walks: 1,
    pages: count,
    at,
    says: [{ walk, page }],
  });
}

/** A run, a walk and its pages for each poll, down past the top of the poll before. */
export function follow(size: SeededSize, numbers: Numbers, followed: Followed): string[] {
  const { of, list, rate, pagesPerPoll, overlap, cursor, key, lost } = followed;
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
  return series(numbers, {
    of,
    runs: { count: list.polls },
    walks: list.polls,
    pages: pagesPerPoll,
    at: pollTime(size, list),
    says: [{ walk, page, but: lost === null ? 'false' : `n = ${lost}` }],
  });
}

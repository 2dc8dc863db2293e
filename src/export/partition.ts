import type { Statement } from '../query/read.ts';
import type { Layout, Relation } from './relation.ts';

export type Format = 'parquet' | 'csv';

/** Rows of a relation that are in one file; null: not told apart by it. */
export interface Partition {
  readonly chain_id: string | null;
  /** Null in a relation that goes by day: rows without a time. */
  readonly day: string | null;
}

/** Which rows are exported. */
export interface Choice {
  /** None: all. */
  readonly chains: readonly number[];
  /** First and last UTC day, such as 2026-11-01; null: no bound. A row without a time is in every choice. */
  readonly from: string | null;
  readonly to: string | null;
}

/** What Hive, DuckDB and Arrow read as null. */
const noValue = '__HIVE_DEFAULT_PARTITION__';

/** Where its file lies, below the folder of the export. */
export function pathOf(
  name: string,
  layout: Layout,
  { chain_id: chain, day }: Partition,
  format: Format,
): string {
  const folders = [
    name,
    ...(layout === 'whole' ? [] : [`chain_id=${encodeURIComponent(chain ?? noValue)}`]),
    ...(layout === 'day' ? [`day=${encodeURIComponent(day ?? noValue)}`] : []),
  ];
  return [...folders, `data.${format}`].join('/');
}

/** A statement while it is written: a value gets the next number. */
type Bind = (value: string) => string;

const bindTo =
  (values: string[]): Bind =>
  (value) =>
    `$${values.push(value)}`;

/** A time in a range of UTC days, so that an index by time serves. */
function inDays(from: string | null, to: string | null, bind: Bind): string {
  const start = (day: string, shift: number) =>
    `(${bind(day)}::date + ${shift})::timestamp at time zone 'UTC'`;
  const bounds = [
    ...(from === null ? [] : [`"timestamp" >= ${start(from, 0)}`]),
    ...(to === null ? [] : [`"timestamp" < ${start(to, 1)}`]),
  ];
  return bounds.join(' and ');
}

const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;
const where = (conditions: readonly string[]): string =>
  conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`;

/** The statement that lists the partitions of a choice which have rows. */
export function partitionsOf({ name, layout }: Relation, choice: Choice): Statement {
  const values: string[] = [];
  const bind = bindTo(values);
  const { chains, from, to } = choice;
  const conditions: string[] = [];
  if (chains.length > 0)
    conditions.push(`chain_id = any(${bind(`{${chains.join(',')}}`)}::bigint[])`);
  if (layout === 'day' && (from !== null || to !== null)) {
    conditions.push(`("timestamp" is null or (${inDays(from, to, bind)}))`);
  }
  const day = layout === 'day' ? `("timestamp" at time zone 'UTC')::date` : 'null::date';
  return {
    text: `select distinct chain_id, ${day} as day from explorer.${quote(name)} ${where(conditions)}
           order by 1, 2 nulls last`,
    values,
  };
}

/**
 * The statement that reads a partition, always in the same order if a key gives one. Readers of Parquet take
 * the chain from the path, and refuse one that is in the file too; a CSV file has all columns.
 */
export function statementOf(
  { name, layout, columns, key }: Relation,
  { chain_id: chain, day }: Partition,
  format: Format,
): Statement {
  const values: string[] = [];
  const bind = bindTo(values);
  const conditions: string[] = [];
  if (layout !== 'whole') {
    conditions.push(chain === null ? 'chain_id is null' : `chain_id = ${bind(chain)}::bigint`);
  }
  if (layout === 'day') {
    conditions.push(day === null ? '"timestamp" is null' : inDays(day, day, bind));
  }
  const isInPath = layout !== 'whole' && format === 'parquet';
  const read = columns.filter((column) => !isInPath || column !== 'chain_id');
  const order = [...(layout === 'day' ? ['timestamp'] : []), ...key].map(quote);
  return {
    text: `select ${read.map(quote).join(', ')} from explorer.${quote(name)} ${where(conditions)}
           ${order.length === 0 ? '' : `order by ${order.join(', ')}`}`,
    values,
  };
}

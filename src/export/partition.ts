import type { Statement } from '../query/read.ts';
import type { Layout, Relation } from './relation.ts';

export type Format = 'parquet' | 'csv';

/** Rows of a relation that are in one file; null: not told apart by it. */
export interface Partition {
  readonly chain_id: string | null;
  /** Of a relation that goes by day null is what tells no time. */
  readonly day: string | null;
}

/** Which partitions are exported. */
export interface Choice {
  /** None: all. */
  readonly chains: readonly number[];
  /** First and last UTC day, such as 2026-11-01; null: no bound. What tells no time is in every choice. */
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

/** Every path that `pathOf` gives, and the same while its file is written. */
export const ownPath =
  /^[\w-]+\/(?:chain_id=[^/]+\/)?(?:day=[^/]+\/)?(?:data\.(?:parquet|csv)|\.data\.(?:parquet|csv)\.unfinished)$/u;

/** Whether a partition is in a choice. */
export const isChosen = (
  { chain_id: chain, day }: Partition,
  { chains, from, to }: Choice,
): boolean =>
  (chains.length === 0 || chains.some((one) => String(one) === chain)) &&
  (day === null ||
    ((from === null || !isBefore(day, from)) && (to === null || !isBefore(to, day))));

/** Years of five digits come after those of four. */
const isBefore = (one: string, other: string): boolean =>
  one.length === other.length ? one < other : one.length < other.length;

/** In UTC, whatever the session says. */
export const dayOfRow = `("timestamp" at time zone 'UTC')::date`;

/** Numbers values of a statement while it is written. */
export function bindTo(values: string[], value: string): string {
  values.push(value);
  return `$${values.length}`;
}

/** Conditions that choose rows, so that indexes by time and by chain serve. */
export function choose({ layout }: Relation, choice: Choice, values: string[]): string[] {
  const { chains, from, to } = choice;
  // Each value that is bound is asked for, or Postgres refuses the statement.
  const bind = (value: string) => bindTo(values, value);
  const conditions: string[] = [];
  if (layout !== 'whole' && chains.length > 0) {
    conditions.push(`chain_id = any(${bind(`{${chains.join(',')}}`)}::bigint[])`);
  }
  if (layout === 'day' && (from !== null || to !== null)) {
    const start = (day: string, shift: number) =>
      `(${bind(day)}::date + ${shift})::timestamp at time zone 'UTC'`;
    const bounds = [
      ...(from === null ? [] : [`"timestamp" >= ${start(from, 0)}`]),
      ...(to === null ? [] : [`"timestamp" < ${start(to, 1)}`]),
    ];
    conditions.push(`("timestamp" is null or (${bounds.join(' and ')}))`);
  }
  return conditions;
}

export const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;
export const where = (conditions: readonly string[]): string =>
  conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`;

/**
 * The statement that reads a partition, always in the same order where a key tells one. Readers of Parquet take
 * the chain from the path, and refuse one that is in the file too; a CSV file has all columns.
 */
export function statementOf(relation: Relation, partition: Partition, format: Format): Statement {
  const { name, layout, columns, key } = relation;
  const values: string[] = [];
  const conditions: string[] = [];
  const { chain_id: chain } = partition;
  if (layout !== 'whole') {
    conditions.push(
      chain === null ? 'chain_id is null' : `chain_id = ${bindTo(values, chain)}::bigint`,
    );
  }
  if (layout === 'day') {
    const { day } = partition;
    if (day === null) conditions.push('"timestamp" is null');
    else conditions.push(...choose(relation, { chains: [], from: day, to: day }, values).map(told));
  }
  const read = columns.filter(
    (one) => layout === 'whole' || format === 'csv' || one.name !== 'chain_id',
  );
  const order = [...(layout === 'day' ? ['timestamp'] : []), ...key].map(quote);
  return {
    text: `select ${read.map((one) => quote(one.name)).join(', ')}
           from explorer.${quote(name)} ${where(conditions)}
           ${order.length === 0 ? '' : `order by ${order.join(', ')}`}`,
    values,
  };
}

/** Those that tell no time are a partition of their own. */
const told = (condition: string): string => `"timestamp" is not null and ${condition}`;

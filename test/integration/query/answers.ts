import { questions, statementOf } from '../../../src/query/question.ts';
import { freshDatabase, type OpenDatabase } from '../../harness/database.ts';

type Given = Parameters<typeof statementOf>[1];

/** An answer's rows, keyed by its columns. */
export async function answerTo({ pool }: OpenDatabase, name: string, given: Given = {}) {
  const question = questions().find((one) => one.name === name);
  if (question === undefined) throw new Error(`no question ${name}`);
  const { text, values } = statementOf(question, given);
  return (await pool.query(text, [...values])).rows as Record<string, unknown>[];
}

export const pick = (rows: readonly Record<string, unknown>[], ...columns: readonly string[]) =>
  rows.map((row) => columns.map((column) => row[column]));

/** A chain whose lists cover blocks; block n was made n minutes after midnight of 1 June, UTC. */
export async function chainWith(covered: Readonly<Record<string, string>>) {
  const database = await freshDatabase();
  const { query } = database;
  await query(`insert into explorer.chains (chain_id, name) values (10, 'optimism')`);
  for (const [operation, blocks] of Object.entries(covered)) {
    const feed = [10, operation] as const;
    await query(
      `insert into etl.feeds (chain_id, operation, kind, settings) values ($1, $2, 'newest-first', '{}')`,
      [...feed],
    );
    await query(
      `insert into etl.coverage (feed, lane, verified) values ($1 || '/' || $2, 'backfill', $3)`,
      [...feed, blocks],
    );
    await query(
      `insert into etl.runs (chain_id, operation, lane, scope, state, opened_at, closed_at)
       values ($1, $2, 'live', '{}', 'finished', '2026-06-03', '2026-06-03')`,
      [...feed],
    );
  }
  return database;
}

export const atBlock = (block: string) =>
  `timestamptz '2026-06-01Z' + make_interval(mins => (${block})::int)`;

/** One operation in each block, by as many senders as there are blocks, or by given ones. */
export const addOperations = (
  { query }: OpenDatabase,
  first: number,
  last: number,
  sender = `'0x' || lpad(to_hex(block), 40, '0')`,
) =>
  query(
    `insert into explorer.user_operations (chain_id, hash, block_number, timestamp, address_hash, status, transaction_hash, page_id)
     select 10, '0x' || md5(block::text || ${sender}), block, ${atBlock('block')}, ${sender}, true, '0xt' || block, 1
     from generate_series($1::int, $2::int) as block`,
    [first, last],
  );

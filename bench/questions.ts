/**
 * `npm run bench:questions -- (--database-url URL | --directory DIR)`: what each view and each named question
 * takes on a database of `npm run bench:data` that was summed up, cold (the first time) and warm (the median
 * of three more), with the top node of its plan; and each panel of the dashboards, for all chains and the time that it looks back first.
 */
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { drizzle } from 'drizzle-orm/node-postgres';
import type { Pool } from 'pg';
import { createPool } from '../src/db/pool.ts';
import { questions, statementOf } from '../src/query/question.ts';
import { boards } from '../scripts/dashboards/boards.ts';
import { panelsOf, sent } from '../scripts/dashboards/written.ts';
import { rollUp } from '../src/rollups/roll.ts';
import { openKept } from './server.ts';

const { values } = parseArgs({
  options: { 'database-url': { type: 'string' }, directory: { type: 'string' } },
});

/** As people ask the views, beside the named questions. */
const asked: Readonly<Record<string, string>> = {
  'operations_enriched, the newest 50':
    'select * from explorer.operations_enriched order by timestamp desc limit 50',
  'operations_enriched, the newest 50 of a chain':
    'select * from explorer.operations_enriched where chain_id = 8453 order by timestamp desc limit 50',
  'operations_enriched, fees of the last day': `select chain_id, count(*), sum(fee_native) from explorer.operations_enriched
     where timestamp between (select max(newest_at) - interval '1 day' from explorer.freshness)
                         and (select max(newest_at) from explorer.freshness) group by 1`,
  'operations_enriched, one transaction': `select * from explorer.operations_enriched where transaction_hash = (
       select transaction_hash from explorer.user_operations where chain_id = 8453 limit 1
     )`,
  'operations_enriched, one sender': `select * from explorer.operations_enriched where address_hash = (
       select address_hash from explorer.user_operations where chain_id = 8453 limit 1
     ) order by timestamp desc limit 50`,
  'operations_daily, all': 'select * from explorer.operations_daily',
  'senders, the largest 50': 'select * from explorer.senders order by operations desc limit 50',
  'chain_daily, all': 'select * from explorer.chain_daily',
  'batch_stats, the last day': `select * from explorer.batch_stats where last_at > (select max(last_at) from explorer.batch_stats) - interval '1 day'`,
  'factory_daily, one factory': `select * from explorer.factory_daily where (chain_id, address_hash) = (
       select chain_id, address_hash from explorer.factories limit 1
     )`,
  'factory_daily, the last 30 days of all':
    'select * from explorer.factory_daily where day > current_date - 30',
  'coverage, all': 'select * from explorer.coverage',
  'gaps, all': 'select * from explorer.gaps',
  'freshness, all': 'select * from explorer.freshness',
  'provenance of a row': `select provenance.* from explorer.provenance
    where page_id = (select page_id from explorer.user_operations limit 1)`,
  'refreshed, all': 'select * from explorer.refreshed',
};

const warmRuns = 3;

/** Each statement of the dashboards, up to the newest operation there is. */
async function drawnBy(pool: Pool): Promise<Statement[]> {
  const { rows } = await pool.query<{ to: Date; chains: number[] }>(
    `select (select max(newest_at) from explorer.freshness) as to,
       (select array_agg(chain_id::integer order by chain_id) from explorer.chains) as chains`,
  );
  const [{ to, chains } = { to: new Date(), chains: [] }] = rows;
  const found: Statement[] = [];
  for (const board of Object.keys(boards)) {
    const { panels, spanMs } = await panelsOf(board);
    const view = { from: new Date(to.getTime() - spanMs), to, chains };
    for (const { title, targets } of panels) {
      for (const { rawSql } of targets) {
        found.push({ name: `${board}: ${title}`, text: sent(rawSql, view), values: [] });
      }
    }
  }
  return found;
}

interface Statement {
  readonly name: string;
  readonly text: string;
  readonly values: readonly unknown[];
}

const seconds = (ms: number) => (ms / 1000).toFixed(ms < 100 ? 3 : 2);

async function timed(pool: Pool, text: string, given: readonly unknown[]): Promise<number> {
  const begun = performance.now();
  await pool.query(text, [...given]);
  return performance.now() - begun;
}

async function topNode(pool: Pool, text: string, given: readonly unknown[]): Promise<string> {
  const { rows } = await pool.query<{ 'QUERY PLAN': [{ Plan: { 'Node Type': string } }] }>(
    `explain (format json) ${text}`,
    [...given],
  );
  return rows[0]?.['QUERY PLAN'][0].Plan['Node Type'] ?? '';
}

const kept = await openKept(values);
const pool = createPool({ url: kept.url, max: 1, applicationName: 'explorer-etl bench' });
try {
  const begun = performance.now();
  const options = { db: drizzle(pool), now: () => performance.now() };
  const keys = await rollUp(options, new AbortController().signal);
  console.log(
    `${keys} days, senders and batches summed up in ${seconds(performance.now() - begun)} s`,
  );
  const statements: Statement[] = [
    ...Object.entries(asked).map(([name, text]) => ({ name, text, values: [] })),
    ...questions().map((question) => ({ name: question.name, ...statementOf(question, {}) })),
    ...(await drawnBy(pool)),
  ];
  const drawn = new Table({
    head: ['', 'cold, s', 'warm, s', 'top node'],
    style: { head: [], border: [] },
    colAligns: ['left', 'right', 'right', 'left'],
  });
  for (const { name, text, values: given } of statements) {
    const cold = await timed(pool, text, given);
    const warm: number[] = [];
    for (let run = 0; run < warmRuns; run += 1) warm.push(await timed(pool, text, given));
    const middle = warm.toSorted((a, b) => a - b)[Math.floor(warmRuns / 2)] ?? 0;
    drawn.push([name, seconds(cold), seconds(middle), await topNode(pool, text, given)]);
  }
  console.log(drawn.toString());
} finally {
  await pool.end();
  await kept.close();
}

/**
 * `npm run bench growth -- (--database-url URL | --directory DIR) [--operations 200000]`: what the reports, a
 * poll of each list and the closing of a gap take, statement by statement. An empty database is first filled
 * as a year of polls leaves it; in a directory an embedded Postgres keeps it for the next measurement.
 */
import { parseArgs } from 'node:util';
import type { Pool } from 'pg';
import { prepareUrl } from '../test/harness/client.ts';
import { createPool } from '../src/db/pool.ts';
import { grow } from '../test/harness/seeded/fill.ts';
import { type Size, usualBlockMs } from '../test/harness/seeded/lists.ts';
import { goRound, type Round } from '../test/harness/seeded/rounds.ts';
import { openKept } from './server.ts';
import { plainLook, tableLines } from '../src/terminal/layout.ts';

const { values } = parseArgs({
  options: {
    operations: { type: 'string', default: '200000' },
    'database-url': { type: 'string' },
    directory: { type: 'string' },
    /** Statements below it are summed up, in ms. */
    least: { type: 'string', default: '5' },
  },
});

const kept = await openKept(values);
await prepareUrl(kept.url);
const pool = createPool({ url: kept.url, max: 2, applicationName: 'explorer-etl bench' });
await fillWhereEmpty(pool);
const size = await storedSize(pool);
await pool.end();
try {
  await kept.copied((url) => goRound(url, size, show));
} finally {
  await kept.close();
}

async function fillWhereEmpty(empty: Pool): Promise<void> {
  const { rowCount } = await empty.query('select from explorer.user_operations limit 1');
  if (rowCount !== 0) return;
  const operations = Number(values.operations);
  const begin = performance.now();
  await grow(empty, { operations, nowMs: Date.now(), blockMs: usualBlockMs });
  console.log(`filled in ${((performance.now() - begin) / 1000).toFixed(0)} s`);
  const { rows: tables } = await empty.query<{ line: string }>(
    `select format('%s %s rows %s MB', rpad(oid::regclass::text, 32), lpad(reltuples::bigint::text, 10),
                   lpad(ceil(pg_total_relation_size(oid) / 2 ^ 20)::text, 7)) as line
     from pg_class
     where relkind = 'r' and relnamespace in ('etl'::regnamespace, 'explorer'::regnamespace)
       and reltuples > 0
     order by pg_total_relation_size(oid) desc`,
  );
  for (const { line } of tables) console.log(line);
}

/** The size of what is seeded already: the newest operation says it. */
async function storedSize(filled: Pool): Promise<Size> {
  const { rows } = await filled.query<{ operations: number; at: Date }>(
    `select block_number::float8 as operations, timestamp as at from explorer.user_operations
     order by timestamp desc limit 1`,
  );
  const [newest] = rows;
  if (newest === undefined) throw new Error('nothing is seeded here');
  return { operations: newest.operations, nowMs: newest.at.getTime(), blockMs: usualBlockMs };
}

interface Line {
  from: string;
  calls: number;
  ms: number;
  rows: number;
  most: string;
  node: string;
  scans: Set<string>;
}

/** Statements of one text are a line. */
function show({ what, ms, statements }: Round): void {
  const lines = new Map<string, Line>();
  for (const { from, text, ms: took, node, rows: read, scanned } of statements) {
    const fresh = { from, calls: 0, ms: 0, rows: 0, most: '', node, scans: new Set<string>() };
    const line = lines.get(text) ?? fresh;
    const [[table, rows] = ['', 0]] = [...read].sort(([, a], [, b]) => b - a);
    line.calls += 1;
    line.ms += took;
    if (rows >= line.rows) Object.assign(line, { rows, most: table, node });
    for (const name of scanned) line.scans.add(name.replace(/^(?:etl|explorer)\./u, ''));
    lines.set(text, line);
  }
  const all = [...lines.values()].sort((a, b) => b.ms - a.ms);
  const shown = all.filter((line) => line.ms >= Number(values.least));
  const total = statements.reduce((sum, statement) => sum + statement.ms, 0);
  console.log(
    `\n${what}: ${ms.toFixed(0)} ms, ${total.toFixed(0)} of them in ${statements.length} statements`,
  );
  if (shown.length === 0) return;
  const head = ['statement', 'calls', 'ms', 'rows read', 'most of', 'scans', 'top node'];
  const cells = shown.map(({ from, calls, ms: took, rows, most, scans, node }) =>
    [from, calls, took.toFixed(1), rows, most, [...scans].join(' '), node].map(String),
  );
  console.log(tableLines(plainLook, { head, rows: cells }).join('\n'));
}

/**
 * `npm run bench growth -- (--database-url URL | --directory DIR) [--operations 200000]`: what the reports, a
 * poll of each list and the closing of a gap take, statement by statement. An empty database is first filled
 * as a year of polls leaves it; in a directory an embedded Postgres keeps it for the next measurement.
 */
import { parseArgs } from 'node:util';
import type { Pool } from 'pg';
import { migrateUrl } from '../test/harness/client.ts';
import { createPool } from '../src/db/pool.ts';
import { exploreSeeded, seededSettings } from '../test/harness/seeded/explorer.ts';
import { grow, tableSizes } from '../test/harness/seeded/seed.ts';
import { explaining, recordStatements, scanned } from '../test/harness/seeded/recorder.ts';
import { goRound, type Round } from '../test/harness/seeded/rounds.ts';
import { sizeOf, sizeStored } from '../test/harness/seeded/size.ts';
import { openKept } from './server.ts';
import { tableLines } from '../src/terminal/layout.ts';
import { plainLook } from '../src/terminal/look.ts';
import { rowsRead } from '../test/harness/seeded/recorder.ts';

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
await migrateUrl(kept.url);
const pool = createPool({ url: kept.url, max: 2, applicationName: 'explorer-etl bench' });
await fillWhereEmpty(pool);
const size = await sizeStored(pool, Number(values.operations));
await pool.end();
const recorder = recordStatements();
try {
  const explorer = await exploreSeeded(size);
  const settings = seededSettings(explorer.url, size);
  try {
    await kept.copied((url) => goRound({ url: explaining(url), settings, recorder }, show));
  } finally {
    await explorer.close();
  }
} finally {
  recorder.stop();
  await kept.close();
}

async function fillWhereEmpty(empty: Pool): Promise<void> {
  const { rowCount } = await empty.query('select from explorer.user_operations limit 1');
  if (rowCount !== 0) return;
  const made = sizeOf(Number(values.operations), Date.now());
  const begin = performance.now();
  await grow(empty, made, seededSettings('http://localhost', made).chains);
  console.log(`filled in ${((performance.now() - begin) / 1000).toFixed(0)} s`);
  for (const { table, rows, bytes } of await tableSizes(empty)) {
    const megabytes = String(Math.ceil(bytes / 2 ** 20)).padStart(7);
    console.log(`${table.padEnd(32)} ${String(rows).padStart(10)} rows ${megabytes} MB`);
  }
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
  for (const { from, text, ms: took, plan } of statements) {
    const read = [...rowsRead(plan)].sort(([, a], [, b]) => b - a);
    const line = lines.get(text) ?? {
      from,
      calls: 0,
      ms: 0,
      rows: 0,
      most: '',
      node: plan['Node Type'],
      scans: new Set<string>(),
    };
    const [table = '', rows = 0] = read[0] ?? [];
    line.calls += 1;
    line.ms += took;
    if (rows >= line.rows) Object.assign(line, { rows, most: table, node: plan['Node Type'] });
    for (const name of scanned(plan)) line.scans.add(name.replace(/^(?:etl|explorer)\./u, ''));
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

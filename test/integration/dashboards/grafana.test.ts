import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { boards } from '../../../scripts/dashboards/boards.ts';
import { dashboardText } from '../../../scripts/dashboards/text.ts';
import { grantRoles, roles } from '../../../src/db/roles.ts';
import {
  startInstantMs,
  startSimulator,
  type SimulatedChain,
} from '../../../src/simulator/index.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { sumUp } from '../../support/sums.ts';
import { runSync } from '../../support/sync.ts';

const folder = join(import.meta.dirname, '../../../dashboards/grafana');
const dayMs = 86_400_000;
/** Its number among the types of Postgres. */
const timestamptz = 1184;

const chains: SimulatedChain[] = [10, 42220].map((id) => ({
  id,
  name: `chain ${id}`,
  family: 'optimism',
  generation: 'v12',
  userOperations: 200,
  batches: { first: 1, count: 4, blocks: 60 },
  factories: 30,
}));

let database: TestDatabase;
beforeAll(async () => {
  const simulator = await startSimulator({ seed: 9, chains });
  database = await createTestDatabase();
  const operations = ['factories', 'optimism-batch-blocks', 'optimism-batches', 'user-operations'];
  await runSync(database, { url: simulator.url, chains, operations });
  await simulator.close();
  await sumUp(database.pool);
  await grantRoles(database.pool);
  // Something to show where all is well.
  await database.pool.query(`
    insert into etl.late_arrivals (chain_id, operation, key, height, timestamp, seen_at, page_id)
    select chain_id, 'user-operations', hash, block_number, timestamp, timestamp, page_id
    from explorer.user_operations where timestamp is not null limit 1;
    delete from explorer.read_batches where batch_number = 2
  `);
});
afterAll(() => database?.drop());

/** A statement as Grafana sends it: its macros and variables replaced, for the days around the simulated world. */
function sent(sql: string): string {
  const at = (ms: number) => `'${new Date(ms).toISOString()}'`;
  const [from, to] = [at(startInstantMs - 30 * dayMs), at(Date.now() + dayMs)];
  return sql
    .replaceAll(/\$__timeFilter\(([\w.]+)\)/gu, `$1 BETWEEN ${from} AND ${to}`)
    .replaceAll('$__timeFrom()', from)
    .replaceAll('$__timeTo()', to)
    .replaceAll('$chain', '10,42220');
}

interface Panel {
  readonly title: string;
  readonly type: string;
  readonly targets: readonly { readonly rawSql: string; readonly format: string }[];
}

async function panelsOf(name: string): Promise<Panel[]> {
  const text = await readFile(join(folder, `${name}.json`), 'utf8');
  return (JSON.parse(text) as { panels: Panel[] }).panels;
}

describe.each(Object.entries(boards))('the dashboard %s', (name, board) => {
  test('is the one in code', async () => {
    const written = await readFile(join(folder, `${name}.json`), 'utf8');
    expect(written, 'it is out of date: run npm run dashboards').toBe(await dashboardText(board));
  });

  test('has an answer in each panel, also for an analyst', async () => {
    const panels = await panelsOf(name);
    expect(panels.length).toBeGreaterThan(3);
    const session = await database.pool.connect();
    try {
      await session.query(`set role ${roles.analyst}`);
      for (const { title, type, targets } of panels) {
        for (const { rawSql, format } of targets) {
          const { rows, fields } = await session.query(sent(rawSql));
          expect(rows.length, title).toBeGreaterThan(0);
          const time = fields.find(({ name: column }) => column === 'time');
          expect(time?.dataTypeID ?? null, title).toBe(
            format === 'time_series' ? timestamptz : null,
          );
          expect(rows.length === 1 || type !== 'stat', title).toBe(true);
        }
      }
    } finally {
      session.release(true);
    }
  });

  test('asks for nothing but chains and times', async () => {
    for (const { targets, title } of await panelsOf(name)) {
      for (const { rawSql } of targets) expect(sent(rawSql), title).not.toContain('$');
    }
  });
});

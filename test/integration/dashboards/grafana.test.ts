import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { boards } from '../../../scripts/dashboards/boards.ts';
import { dashboardText } from '../../../scripts/dashboards/text.ts';
import { panelsOf, readWritten, sent } from '../../../scripts/dashboards/written.ts';
import { roles } from '../../../src/db/roles.ts';
import { startInstantMs } from '../../../simulator/index.ts';
import type { TestDatabase } from '../../harness/database.ts';
import { chains, copiedForAnalysts } from './copied.ts';

const dayMs = 86_400_000;
/** Their numbers among the types of Postgres. */
const timestamptz = 1184;
const text = 25;

let database: TestDatabase;
beforeAll(async () => {
  database = await copiedForAnalysts();
  // Something to show where all is well.
  await database.pool.query(`
    insert into etl.late_arrivals (chain_id, operation, key, height, timestamp, seen_at, page_id)
    select chain_id, 'user-operations', hash, block_number, timestamp, timestamp, page_id
    from explorer.user_operations where timestamp is not null limit 1;
    delete from explorer.read_batches where batch_number = 2
  `);
});
afterAll(() => database?.drop());

/** The days around the simulated world. */
const view = {
  from: new Date(startInstantMs - 30 * dayMs),
  to: new Date(Date.now() + dayMs),
  chains: chains.map(({ id }) => id),
};

describe.each(Object.entries(boards))('the dashboard %s', (name, board) => {
  test('is the one in code', async () => {
    const written = await readWritten(name);
    expect(written, 'it is out of date: run npm run generate dashboards').toBe(
      await dashboardText(board),
    );
  });

  test('has an answer in each panel, also for an analyst', async () => {
    const { panels } = await panelsOf(name);
    expect(panels.length).toBeGreaterThan(3);
    const session = await database.pool.connect();
    try {
      await session.query(`set role ${roles.analyst}`);
      for (const { title, type, targets } of panels) {
        for (const { rawSql, format } of targets) {
          const { rows, fields } = await session.query(sent(rawSql, view));
          expect(rows.length, title).toBeGreaterThan(0);
          const time = fields.find(({ name: column }) => column === 'time');
          expect(time?.dataTypeID ?? null, title).toBe(
            format === 'time_series' ? timestamptz : null,
          );
          // A number has no text beside it; of several each has its own.
          const texts = fields.filter(({ dataTypeID }) => dataTypeID === text);
          expect(rows.length === 1 || type !== 'stat' || texts.length === 1, title).toBe(true);
        }
      }
    } finally {
      session.release(true);
    }
  });

  test('asks for nothing but chains and times', async () => {
    const { panels } = await panelsOf(name);
    for (const { targets, title } of panels) {
      for (const { rawSql } of targets) expect(sent(rawSql, view), title).not.toContain('$');
    }
  });
});

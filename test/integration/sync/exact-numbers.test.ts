import { expect, test } from 'vitest';
import { listQuarantined, retryQuarantined } from '../../../src/quarantine/quarantine.ts';
import { openCopy, plainChain } from '../../harness/sync.ts';
import { replayed } from '../archive/archive.ts';

const chain = { ...plainChain, userOperations: 70 };
const all = { chains: [], operations: [], ids: [], reason: null };

/** User operations as they are served, with numbers that no double holds in one of each page. */
async function world(more: Record<string, unknown> = {}) {
  const { served, sync, database, query } = await openCopy(chain, { seed: 11 });
  served.alter = (page) => {
    Object.assign(page.items[3] ?? {}, {
      fee: JSON.rawJSON('187125856691380123456'),
      id: JSON.rawJSON('9007199254740993'),
      rate: { now: JSON.rawJSON('0.1234567890123456789'), ever: JSON.rawJSON('1e400') },
      ...more,
    });
    return page;
  };
  await sync({ operations: ['user-operations'], archive: 'all' });
  const expectDigits = async () => {
    const rows = await query(`
      select fee, extra ->> 'id' as id, extra #>> '{rate,now}' as rate,
             (extra #>> '{rate,ever}')::numeric = 10::numeric ^ 400 as is_whole
      from explorer.user_operations
      where extra ? 'id'`);
    const exact = {
      fee: '187125856691380123456',
      id: '9007199254740993',
      rate: '0.1234567890123456789',
      is_whole: true,
    };
    expect(rows).toEqual([exact, exact]);
  };
  return { database, expectDigits };
}

test('numbers keep their digits in columns, in extra and in a replay', async () => {
  const { database, expectDigits } = await world();
  await expectDigits();
  expect(await replayed(database)).toMatchObject({ pages: 2, inserted: 0, updated: 0 });
});

test('numbers keep their digits in quarantine, and when they leave it', async () => {
  const { database, expectDigits } = await world({ hash: '?' });
  const db = database.db;
  const [first] = await listQuarantined(db, all);
  expect(JSON.stringify(first?.raw)).toMatch(
    /"id":9007199254740993,"fee":187125856691380123456,.*"now":0\.1234567890123456789/u,
  );
  await database.query(`
    update etl.quarantine
    set raw = jsonb_set(raw, '{hash}', to_jsonb('0x' || lpad(id::text, 64, '0')))`);
  expect(await retryQuarantined(db, all)).toMatchObject({ written: 2, kept: [] });
  await expectDigits();
});

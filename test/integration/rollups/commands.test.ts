import { expect, test } from 'vitest';
import { sumFaults, sumUp } from '../../harness/ledger.ts';
import { call } from '../../harness/process.ts';
import { openCopy, shortChain } from '../../harness/sync.ts';

test.each(['replay', 'quarantine retry'])(
  'what %s writes is in the sums once it ends',
  async (line) => {
    const run = { operations: ['user-operations'], archive: 'all' } as const;
    const { database, served, sync, db, pool, query } = await openCopy(shortChain, { run });
    served.alter = (page) => {
      const [item] = page.items;
      if (item !== undefined) item.hash = `?${String(item.hash)}`;
      return page;
    };
    await sync();
    await query(`update explorer.user_operations set fee = null where block_number % 2 = 0`);
    await sumUp(db);
    await query(`update etl.quarantine set raw = replace(raw::text, '"?', '"')::jsonb`);
    expect(await sumFaults(pool)).toEqual({});

    const { code } = await call(line.split(' '), { env: { DATABASE_URL: database.url } });

    expect(code).toBe(0);
    expect(await query('select distinct stale from explorer.refreshed')).toEqual([{ stale: '0' }]);
    expect(await sumFaults(pool)).toEqual({});
  },
);

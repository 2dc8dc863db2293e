import { expect, test } from 'vitest';
import { freshDatabase } from '../../harness/database.ts';
import { answered } from '../../harness/explorer.ts';
import { holdCommits } from '../../harness/ledger.ts';
import { eventually } from '../../harness/process.ts';
import { beginRun, claim, openContender, walkOn } from '../../harness/runner.ts';
import { plainChain } from '../../harness/sync.ts';

const lane = { chain_id: 10, operation: 'user-operations', lane: 'backfill' } as const;

test.each([
  ['fails', 'failure'],
  ['is stopped', 'paused'],
] as const)('the pages before one whose request %s are committed', async (_, outcome) => {
  const stop = new AbortController();
  let requests = 0;
  const url = await answered(({ searchParams }) => {
    requests += 1;
    const page = Number(searchParams.get('page_token')?.split(',')[0] ?? 0);
    if (page === 3 && outcome === 'paused') stop.abort();
    if (page === 3) return { status: 400, body: {} };
    const items = [{ hash: `0x${String(page).padStart(64, '0')}` }];
    return { body: { items, next_page_params: { page_size: 50, page_token: `${page + 1},0x` } } };
  });
  const database = await freshDatabase();
  const engine = await openContender(database, { url, chains: [plainChain] });
  const walk = await claim(engine, await beginRun(engine, lane, {}));
  if (walk === null) throw new Error('the run has no walk');
  const open = await holdCommits(database);
  const walking = walkOn(engine, walk, 10, new Set(), stop.signal);
  await eventually('the last request', async () => requests > 3);

  await open();

  expect(await walking).toMatchObject({ is: outcome });
  expect(await database.query('select from etl.pages')).toHaveLength(3);
});

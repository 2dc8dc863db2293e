import { expect, test } from 'vitest';
import type { PlanDocument } from '../../../src/status/plan.ts';
import type { StatusDocument } from '../../../src/status/schema.ts';
import type { VerifyDocument } from '../../../src/status/verify.ts';
import { recountCoverage } from '../../../src/status/verify.ts';
import { keepLists, type KeptOperation } from '../../harness/kept.ts';
import { openProgram, pagesAfter, timeAt } from './program.ts';

const operations = { 'user-operations': { parallel: 1 } };
const pagesRead = 4;
const pagesLeft = pagesAfter(0) - pagesRead;

function expectNear(said: number | null | undefined, truly: number): void {
  expect(said).toBeGreaterThanOrEqual(truly / 1.5);
  expect(said).toBeLessThanOrEqual(truly * 1.5);
}

test('requests down to the target are estimated from the pages read, with an upper bound', async () => {
  const bounded = { 'user-operations': { parallel: 1, since: timeAt(0) } };
  const { run, documentOf } = await openProgram({ operations: bounded });
  await run('sync', '--max-pages', String(pagesRead));

  const plan = await documentOf<PlanDocument>('plan');
  const [planned] = plan.feeds;
  const status = await documentOf<StatusDocument>('status');
  const [reported] = status.feeds;

  expect(plan.spent_today).toBeGreaterThan(0);
  expect(plan.spent_today).toBe(status.credits.spent);
  expectNear(planned?.history.requests.likely, pagesLeft);
  expectNear(planned?.history.requests.most, pagesLeft);
  expect(reported?.left.requests).toEqual(planned?.history.requests);
  expect((await run('plan')).stdout).toMatch(
    /^History: about [12]\d \(at most [123]\d\) requests/u,
  );
  expect((await run('status')).stdout).toMatch(/~[12]\d req\./u);
});

test('plan marks an upper bound as such', async () => {
  const { run, documentOf } = await openProgram({ operations });
  await run('sync', '--max-pages', String(pagesRead));

  const [planned] = (await documentOf<PlanDocument>('plan')).feeds;

  expect(planned?.history).toMatchObject({ requests: { likely: null } });
  expect((await run('plan')).stdout).toMatch(/^History: at most [\d,]{7,} requests/u);
  expect((await run('verify')).stdout).toMatch(/--yes {3}at most [\d,]{7,} requests/u);
  expect(await run('repair')).toMatchObject({
    code: 2,
    requests: 0,
    stderr: expect.stringMatching(/takes at most [\d,]{7,} requests/u),
  });
});

/** Five operations in a block near the head, and far below one in a thousand blocks. */
const uneven: readonly KeptOperation[] = [
  ...Array.from({ length: 1500 }, (_, at) => ({
    block: 2_000_300 - Math.floor(at / 5),
    id: 9e6 - at,
  })),
  ...Array.from({ length: 1000 }, (_, at) => ({ block: (2000 - at) * 1000, id: 5000 - at })),
];

test('the cost of a repair is estimated by the density around the gap', async () => {
  const list = await keepLists({ operations: [...uneven] });
  const { run, db, query, documentOf } = await openProgram({ operations, url: list.url });
  await run('sync');
  await query(
    `update etl.walks set verified = verified - int8multirange(int8range(1100000, 1650000))`,
  );
  await recountCoverage(db);
  const verify = async () => (await documentOf<VerifyDocument>('verify')).feeds[0];

  const before = await verify();
  expect((await run('repair')).code).toBe(0);

  expect(before?.open).toMatchObject([{ kind: 'gap' }]);
  const [walk] = await query('select pages::int from etl.walks order by id desc limit 1');
  expectNear(before?.repair?.requests, walk.pages);
  expect((await verify())?.state).toBe('complete');
});

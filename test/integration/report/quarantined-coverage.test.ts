import { expect, test } from 'vitest';
import type { StatusDocument } from '../../../src/status/schema.ts';
import { dropQuarantined } from '../../../src/quarantine/quarantine.ts';
import { verifyFeeds } from '../../../src/status/verify.ts';
import { readCoverage } from '../../../src/status/coverage.ts';
import type { SimulatedChain } from '../../../simulator/index.ts';
import { openCopy, plainChain } from '../../harness/sync.ts';
import { call } from '../../harness/process.ts';
import { inWords } from '../../harness/ledger.ts';
import { inLong } from '../../harness/long-cases.ts';

const chain: SimulatedChain = {
  ...plainChain,
  userOperations: 120,
  batches: { first: 1, count: 3, blocks: 70 },
  factories: 60,
  // A source that has stopped is `behind`, whatever is in quarantine.
  startsAtMs: Date.now() - 2 * 3_600_000,
};

/** A whole copy of a list, of which the nth page of a path had an item that is none, the first time. */
async function copied(operation: string, [end, nth]: readonly [string, number]) {
  const { served, sync, database, db, query } = await openCopy(chain);
  let pages = 0;
  served.alter = (page, { pathname }) => {
    if (pathname.endsWith(end)) pages += 1;
    if (pathname.endsWith(end) && pages === nth) page.items.splice(2, 0, { note: 'no item' });
    return page;
  };
  for (let times = 0; times < 3; times += 1) await sync({ operations: [operation] });
  const status = async () => {
    const { stdout } = await call(['status', '--json'], { env: { DATABASE_URL: database.url } });
    const { feeds } = JSON.parse(stdout) as StatusDocument;
    return feeds[0];
  };
  const coverage = (): Promise<{ from: number | null; to: number | null }[]> =>
    query('select from_block::int as from, to_block::int as to from explorer.coverage order by 1');
  const verdict = async () => {
    const [found] = await verifyFeeds(db);
    if (found === undefined) throw new Error('no feed');
    return found;
  };
  const amounts = async () => {
    const window = { feed: `10/${operation}`, from: null, to: null, cells: 1_000 };
    const states = Map.groupBy(
      (await readCoverage(db, window))?.segments ?? [],
      (one) => one.state,
    );
    return Object.fromEntries([...states].map(([state, own]) => [state, sizeOf(own)]));
  };
  const drop = () => dropQuarantined(db, { chains: [], operations: [], ids: [], reason: null });
  return { status, coverage, verdict, amounts, drop };
}

const sizeOf = (ranges: readonly { readonly from: number | null; readonly to: number | null }[]) =>
  ranges.reduce((sum, { from, to }) => sum + (to ?? 1) - (from ?? 1) + 1, 0);

const open = ['1 item in quarantine'];

test.each([
  ['user-operations', ['/operations', 2]],
  ['optimism-batch-blocks', ['/2', 1]],
  ...inLong(['factories', ['/factories', 1]] as const),
] as const)(
  'no report calls the range of %s complete that can contain an item in quarantine, until it is dropped',
  async (operation, place) => {
    const { status, coverage, verdict, amounts, drop } = await copied(operation, place);
    const held = await verdict();
    const [covered, ribbon, report] = [await coverage(), await amounts(), await status()];
    await drop();
    const after = await verdict();
    const [coveredAfter, ribbonAfter, reportAfter] = [
      await coverage(),
      await amounts(),
      await status(),
    ];

    expect([inWords(held).open, inWords(after).open]).toEqual([open, []]);
    expect(report?.verified.share).toBeLessThan(1);
    expect([report?.state, reportAfter?.verified.share]).toEqual(['behind', 1]);
    expect(reportAfter?.state).not.toBe('behind');
    expect(sizeOf(covered)).toBeLessThan(sizeOf(coveredAfter));
    expect([sizeOf(held.covered), sizeOf(after.covered)]).toEqual(
      // A ranking is complete as a whole, or not.
      operation === 'factories' ? [0, 60] : [sizeOf(covered), sizeOf(coveredAfter)],
    );
    if (operation === 'factories') return;
    const lost = sizeOf(coveredAfter) - sizeOf(covered);
    expect([ribbon['quarantined'], ribbonAfter['quarantined'] ?? 0]).toEqual([lost, 0]);
    expect((ribbonAfter['verified'] ?? 0) - (ribbon['verified'] ?? 0)).toBe(lost);
  },
);

test.each([
  ['user-operations', ['/operations', 1], 0.99],
  ['optimism-batch-blocks', ['/3', 1], 0.6],
] as const)(
  'an item of %s in quarantine above the covered range keeps the share below 100 %',
  async (operation, place, least) => {
    const { status, verdict, drop } = await copied(operation, place);

    expect(inWords(await verdict()).open).toEqual(open);
    const share = (await status())?.verified.share ?? 0;
    expect(share).toBeLessThan(1);
    expect(share).toBeGreaterThan(least);

    await drop();
    expect((await status())?.verified.share).toBe(1);
  },
);

import { expect, test } from 'vitest';
import { feedOf, statusOf } from '../../harness/status.ts';
import { expectToFit, usual } from './looks.ts';
import { commandLineOf } from '../../../src/cli/context.ts';
import { demoText, type DemoResult } from '../../../src/cli/demo.ts';
import { plainLook } from '../../../src/terminal/layout.ts';

/** What npm prints before a script's output, the command itself, and the prompt after it. */
const linesAround = 4 + 1 + 1;
/** Where its page is. */
const pageLines = 1;
const inClone = commandLineOf({ program: 'npx explorer-etl', demo: true });

const labels = {
  'user-operations': 'user operations',
  'optimism-batches': 'batches',
  'optimism-batch-blocks': 'batch blocks',
  factories: 'factories',
};

const feed = (chain_id: number, operation: keyof typeof labels, rows: number) =>
  feedOf({
    feed: `${chain_id}/${operation}`,
    chain_id,
    chain_name: chain_id === 10 ? 'optimism' : 'celo',
    operation,
    label: labels[operation],
    rows,
  });

const kill = {
  pid: 4_194_304,
  feed: '10/user-operations',
  killed_at_page: 112,
  resumed_at_page: 113,
  pages_lost: 0,
  pages_stored_twice: 0,
};

const status = statusOf([]);
const demo: DemoResult = {
  as_of: status.as_of,
  database: 'embedded',
  feeds: [10, 42_220].flatMap((chain) => [
    feed(chain, 'user-operations', 12_091),
    feed(chain, 'optimism-batches', 273),
    feed(chain, 'optimism-batch-blocks', 2_000),
    feed(chain, 'factories', 300),
  ]),
  kill,
  totals: { rows: 26_259, requests: 566, seconds: 5.52 },
  credits: { ...status.credits, spent: 11_320, limit: 100_000 },
};

test('the screen of a demo matches its snapshot', async () => {
  await expect(demoText(demo, usual, inClone)).toMatchFileSnapshot('snapshots/demo.txt');
});

test('the screen of a demo fits a terminal of 24 lines, with the lines of npm', () => {
  expectToFit((look) => demoText(demo, look, inClone));
  const lines = demoText(demo, usual, inClone).trimEnd().split('\n');
  expect(lines.length + pageLines + linesAround).toBeLessThanOrEqual(24);
});

test.each<[Partial<NonNullable<DemoResult['kill']>>, string]>([
  [
    { resumed_at_page: 115, pages_lost: 1 },
    'Killed at page 112, resumed at 115: 1 page lost, 0 stored twice',
  ],
  [{ pages_stored_twice: 2 }, 'Killed at page 112, resumed at 113: 0 pages lost, 2 stored twice'],
  [{ resumed_at_page: null }, 'Killed at page 112, never resumed: 0 pages lost, 0 stored twice'],
])('the demo says so if the ledger does not confirm the kill: %j', (change, verdict) => {
  const text = demoText({ ...demo, kill: { ...kill, ...change } }, plainLook, inClone);
  expect(text).toContain(`✗ ${verdict}\n`);
});

test('an incomplete feed is reported, and the first command is verify', () => {
  const [first, ...others] = demo.feeds;
  if (first === undefined) throw new Error('no feed');
  const open = { ...first, verified: { ...first.verified, share: 0.5 } };
  expect(demoText({ ...demo, feeds: [open, ...others] }, plainLook, inClone)).toMatch(
    /user operations .*50 %.*\n(?:.*\n)*Next:\n {2}npx explorer-etl verify --demo/u,
  );
});

test('a demo on a named database has no Postgres to stop, and no flag that would name it', () => {
  const text = demoText({ ...demo, database: 'named' }, plainLook, (command) => command);
  expect(text).not.toMatch(/--demo|db stop/u);
});

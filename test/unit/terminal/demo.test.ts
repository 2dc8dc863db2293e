import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import { demoText } from '../../../src/cli/demo-text.ts';
import type { DemoDocument } from '../../../src/documents/demo.ts';
import { plainLook, type Look } from '../../../src/terminal/look.ts';
import { widthOf } from '../../../src/terminal/width.ts';
import { looks, usual } from './looks.ts';

/** What npm prints before a script's output, the command itself, and the prompt after it. */
const linesAround = 4 + 1 + 1;
/** How the program is called in a clone: the longest way. */
const inClone = 'npm run --silent explorer-etl --';

const feed = (chain_id: number, operation: string, rows: number, pages: number) => ({
  feed: `${chain_id}/${operation}`,
  chain_id,
  operation,
  rows,
  pages,
  credits: 20 * pages,
  state: 'complete' as const,
  evidence: operation === 'factories' ? ('census' as const) : ('proof' as const),
  open: [],
});

const shares = [0.12, 0.06, 0.05, 0.05, 0.04, 0.04, 0.03, 0.05, 0.04, 0.05];

const kill = {
  pid: 4_194_304,
  is_real: true,
  feed: '10/user-operations',
  walks: 6,
  killed_at_page: 112,
  resumed_at_page: 113,
  pages_lost: 0,
  pages_stored_twice: 0,
  requests_again: 32,
};

const demo: DemoDocument = {
  schema: 'explorer-etl/demo/1',
  exit: { code: 0, reason: 'done' },
  database: 'embedded',
  chains: [
    { chain_id: 10, name: 'optimism' },
    { chain_id: 42_220, name: 'celo' },
  ],
  feeds: [10, 42_220].flatMap((chain) => [
    feed(chain, 'user-operations', 12_091, 243),
    feed(chain, 'optimism-batches', 273, 6),
    feed(chain, 'optimism-batch-blocks', 2_000, 45),
    feed(chain, 'factories', 300, 6),
  ]),
  kill,
  totals: { rows: 26_259, requests: 566, credits: 11_320, free_day_share: 0.1132, seconds: 5.52 },
  failed_operations: [
    { entry_point_version: 'v0.8', operations: 8_075, share: 0.032, shares },
    { entry_point_version: 'v0.7', operations: 934, share: 0.047, shares: shares.toReversed() },
    {
      entry_point_version: 'v0.9',
      operations: 52,
      share: 0.019,
      shares: [null, null, null, null, null, 0, 0, 0, 0, 0.02],
    },
  ],
};

test('the screen of a demo', async () => {
  await expect(demoText(demo, usual, inClone)).toMatchFileSnapshot('snapshots/demo.txt');
});

test.for(Object.values(looks))(
  'no line is wider than $columns columns, but a command that is',
  (look) => {
    const lines = demoText(demo, look, inClone).split('\n').map(stripVTControlCharacters);
    const wide = lines.filter((line) => widthOf(line) > look.columns);
    expect(wide).toEqual(look.columns === 60 ? [`       ${inClone} query --demo top-senders`] : []);
  },
);

test('colours change nothing but the colours', () => {
  const coloured = demoText(demo, { ...usual, isColoured: true }, inClone);
  expect(coloured).toContain('\u001b');
  expect(stripVTControlCharacters(coloured)).toBe(demoText(demo, usual, inClone));
});

test('the screen of a demo fits a terminal of 24 lines, with all that npm adds', () => {
  const lines = demoText(demo, usual, inClone).trimEnd().split('\n');
  expect(lines.length + linesAround).toBeLessThanOrEqual(24);
});

test('off a terminal a demo states the same facts', () => {
  // Bars take what is left of a line, and its last words are left out where it is narrow.
  const factsOf = (look: Look) =>
    demoText(demo, look, 'npx explorer-etl')
      .replaceAll(/█{8,}| {2,}/gu, ' ')
      .split('\n')
      .slice(0, 12);
  expect(factsOf(plainLook)).toEqual(factsOf(usual));
});

describe('a demo whose ledger does not bear out the kill', () => {
  const verdictOf = (change: Partial<NonNullable<DemoDocument['kill']>>) =>
    /✗ .*/u.exec(
      demoText({ ...demo, kill: { ...kill, ...change } }, plainLook, 'explorer-etl'),
    )?.[0];

  test('says what is lost', () => {
    expect(verdictOf({ resumed_at_page: 115, pages_lost: 1 })).toBe(
      '✗ Killed at page 112, resumed at 115: 1 page lost, 0 stored twice',
    );
  });

  test('says what is stored twice', () => {
    expect(verdictOf({ pages_stored_twice: 2 })).toBe(
      '✗ Killed at page 112, resumed at 113: 0 pages lost, 2 stored twice',
    );
  });

  test('says that nobody went on', () => {
    expect(verdictOf({ resumed_at_page: null })).toMatch(/^✗ Killed at page 112, never resumed/u);
  });

  test('says that nothing was under way', () => {
    expect(verdictOf({ killed_at_page: null, resumed_at_page: null })).toMatch(
      /^✗ Killed with nothing under way, never resumed/u,
    );
  });

  test('says that nothing was killed', () => {
    expect(verdictOf({ is_real: false })).toBe(
      '✗ The worker could not be killed: it had ended by itself before',
    );
  });
});

test('a feed of which something is open says so', () => {
  const [first, ...others] = demo.feeds;
  if (first === undefined) throw new Error('no feed');
  const open = { ...first, state: 'open' as const, open: ['blocks 1 to 2: not downloaded'] };
  expect(demoText({ ...demo, feeds: [open, ...others] }, plainLook, 'explorer-etl')).toMatch(
    /user operations .*✗ 1 open: see verify/u,
  );
});

test('a demo on a named database has no Postgres to stop, and no flag that would name it', () => {
  const text = demoText({ ...demo, database: 'named' }, plainLook, 'explorer-etl');
  expect(text).toContain('→ your Postgres');
  expect(text).not.toMatch(/--demo|--stop/u);
});

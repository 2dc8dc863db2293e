import { expect, test } from 'vitest';
import { type OperationName } from '../../simulator/index.ts';
import { openFault, type HostileFault } from '../harness/hostile-faults.ts';
import { redirect as redirectTo } from '../harness/wire-faults.ts';
import { verifiedAsServed } from './chaos-faults.ts';
import { recountCoverage } from '../../src/status/verify.ts';
import { answered, testKey } from '../harness/explorer.ts';
import { hangMs } from '../harness/process.ts';
import { ledgerFaults } from '../harness/ledger.ts';
import { openStruckWorld, firstId, type FeedFacts } from './struck-world.ts';
import { settingsFor } from '../harness/sync.ts';

/**
 * Short, so that what is slow is given up while one looks, and long beside what a sound answer takes;
 * each attempt has them again.
 */
const timeouts = { connectMs: 8000, headersMs: 3000, bodyMs: 8000, totalMs: 6000 };

const hourMs = 60 * 60 * 1000;
/** A poll deeper than any list goes back, due at each run: what came damaged does not stay. */
const resweep = [{ depthMs: 100 * 365 * 24 * hourMs, everyMs: 24 * hourMs }];

/** What a fault does to its feed; the reason is a matcher where there is one. */
const degraded = (reason: RegExp): FeedFacts => ({
  reason: expect.stringMatching(reason) as string,
  stored: 0,
  quarantined: 0,
});
const failed = (stored: number, reason: RegExp): FeedFacts => ({
  ...degraded(reason),
  stored,
});
const idle = (stored: number, quarantined = 0): FeedFacts => ({
  reason: null,
  stored,
  quarantined,
});
const unordered = (whole: FeedFacts): FeedFacts => ({
  ...whole,
  reason: expect.stringMatching(/^unordered: /u) as string,
});

/** Which of the two depends on how the cut body was announced. */
const cut = degraded(/^(?:unreachable|envelope-invalid): /u);
const late = degraded(
  new RegExp(`^unreachable: .*(?:in time|half-way|within ${timeouts.totalMs} ms)`, 'u'),
);
/** On a busy machine the time of the scene runs out before the size does. */
const tooLarge = degraded(
  /^(?:envelope-invalid: the body exceeds 8388608 bytes|unreachable: no complete answer within)/u,
);
const ended = degraded(/^unreachable: connection (?:closed before the whole answer|reset)/u);
const noPage = degraded(/^envelope-invalid: /u);
const tooMuch = degraded(
  /^envelope-invalid: HTTP 200, (?:the body (?:has more than|nests deeper than)|items: Too big)/u,
);

/** What is no page is none of any list. */
const noPages = {
  'cut-in-envelope': cut,
  'cut-at-last-byte': cut,
  'cut-in-item': cut,
  'cut-in-string': cut,
  'cut-in-escape': cut,
  'cut-in-character': cut,
  'cut-after-item': cut,
  'piece-missing': cut,
  'cut-in-gzip': degraded(/^unreachable: /u),
  'length-too-long': ended,
  'length-too-short': noPage,
  'gzip-bomb': tooLarge,
  'body-of-100-mb': tooLarge,
  'byte-a-second': late,
  'endless-headers': degraded(/^unreachable: headers overflow/iu),
  'slow-headers': late,
  'no-answer': late,
  redirect: degraded(/^unreachable: HTTP 302, redirected to 127\.0\.0\.1:\d+, not followed/u),
  'closed-without-answer': ended,
  reset: ended,
  'reset-in-body': ended,
  'not-http': degraded(/^unreachable: Response does not match/u),
  'unknown-encoding': degraded(/^unreachable: unknown content encoding/u),
  '200-html': degraded(
    /^intercepted: HTTP 200, something in front of the explorer answers: Just a moment/u,
  ),
  '200-error': degraded(/^envelope-invalid: HTTP 200, Internal server error/u),
  '200-empty': degraded(/^envelope-invalid: HTTP 200, an empty body/u),
  'other-shape': noPage,
  'items-as-object': noPage,
  'bare-list': noPage,
  'nested-100000': tooMuch,
  'many-brackets': tooMuch,
  'many-objects': tooMuch,
  'many-numbers': tooMuch,
  'many-fields': tooMuch,
  'many-items': tooMuch,
} as const;

/** What a list makes of pages that are pages. */
interface Outcomes {
  readonly whole: FeedFacts;
  /** Without the one item of each page that is refused. */
  readonly refused: FeedFacts;
  /** A number that is none, and a time that is none, in the field that places an item. */
  readonly number: FeedFacts;
  readonly disorder: FeedFacts;
  /** Rows before a cursor comes again, of a circle of one, of three and one that grows. */
  readonly loops: readonly [number, number, number];
  /** Why a cursor that grows is none. */
  readonly growing: RegExp;
}

type ExpectedByFault = Readonly<Record<HostileFault, FeedFacts>>;

const pages = ({
  whole,
  refused,
  number,
  disorder,
  loops,
  growing,
}: Outcomes): ExpectedByFault => ({
  ...noPages,
  'wrong-order': disorder,
  'page-of-500': whole,
  'cursor-repeated': failed(loops[0], /^cursor loop/u),
  'cursor-circle-of-3': failed(loops[1], /^cursor loop/u),
  'cursor-circle-of-300': failed(300, /^cursor loop/u),
  'cursor-growing': failed(loops[2], growing),
  'number-1e400': number,
  'number-negative': number,
  'number-hex': number,
  'number-float': number,
  'number-huge': number,
  // A time that is none is kept beside its column.
  'time-of-year-10000': whole,
  'time-of-year-0': whole,
  'time-of-no-day': whole,
  'string-of-1-mb': whole,
  'nested-1000': refused,
  'lone-surrogate': whole,
  'proto-key': whole,
  'constructor-key': whole,
});

const tooLongToken = /^cursor unreadable: page_token: is longer than 4096 characters/u;
/** One item of each of the five pages is refused; the hash or the address alone makes a row. */
const five = { whole: idle(45), refused: idle(40, 5), number: idle(45) };
const operations = pages({
  ...five,
  disorder: unordered(idle(45)),
  loops: [20, 30, 45],
  growing: tooLongToken,
});
// Rows that seem to move: walked three times, and published with a note.
const factories = pages({
  ...five,
  disorder: idle(45),
  loops: [20, 30, 45],
  growing: tooLongToken,
});
/** Three batches in eleven pages, the first three of which the search for the newest reads twice. */
const allBlocks = idle(97);
const blocks = pages({
  whole: allBlocks,
  refused: idle(86, 11),
  // A block is nothing without its height.
  number: idle(86, 11),
  disorder: unordered(allBlocks),
  loops: [60, 86, 20],
  // A list without tokens: what grows is no cursor of it.
  growing: /^cursor unreadable: block_number: /u,
});

const isLong = (name: string) => name === 'cursor-circle-of-300';
// The long ones first: they take as long as all others together.
const names = (Object.keys(operations) as HostileFault[]).toSorted(
  (a, b) => Number(isLong(b)) - Number(isLong(a)),
);

/** Workers on a chain for each fault, which the struck lists meet, and a neighbour that does not. */
async function openScene(struck: readonly OperationName[], neighbour: OperationName) {
  let elsewhere = 0;
  const elsewhereUrl = await answered(() => {
    elsewhere += 1;
    return { body: { items: [], next_page_params: null } };
  });
  const sizeOf = (operation: OperationName, name: string, otherwise: number) => {
    if (!struck.includes(operation)) return otherwise;
    return isLong(name) ? 310 : 45;
  };
  const world = await openStruckWorld({
    seed: 17,
    names,
    struck,
    timeouts,
    chainOf: (name) => ({
      userOperations: sizeOf('user-operations', name, 15),
      batches: !struck.includes('optimism-batch-blocks')
        ? { first: 1, count: 0, blocks: 30 }
        : isLong(name)
          ? { first: 1, count: 1, blocks: 450 }
          : { first: 1, count: 3, blocks: 30 },
      factories: sizeOf('factories', name, 5),
    }),
    faultOf: (name) =>
      name === 'redirect' ? redirectTo(elsewhereUrl) : openFault(name as HostileFault),
    settingsOf: (url, chains) =>
      settingsFor({ url, chains, operations: [...struck, neighbour], pageSize: 10, resweep }),
  });
  return { world, elsewhere: () => elsewhere };
}

const ofAll = <Value>(value: Value) => Object.fromEntries(names.map((name) => [name, value]));

/** What is said of each list, once it is as expected: a busy machine may meet a limit of time first. */
const shown = { timeout: hangMs, interval: 250 };

test.each<{ expected: Partial<Record<OperationName, ExpectedByFault>>; neighbour: OperationName }>([
  { expected: { 'user-operations': operations }, neighbour: 'factories' },
  {
    expected: { 'optimism-batch-blocks': blocks, factories },
    neighbour: 'user-operations',
  },
])('hostile responses to one feed do not harm $neighbour', async ({ expected, neighbour }) => {
  const struck = Object.keys(expected) as OperationName[];
  const { world, elsewhere } = await openScene(struck, neighbour);

  // Each leaves its feed with a failure that says so, keeps what was sound, and what was not in quarantine.
  for (const list of struck) {
    await expect.poll(() => world.facts(list), shown).toEqual(expected[list]);
  }
  // Other feeds of the same chains go on.
  await expect.poll(() => world.failures(neighbour), shown).toEqual(ofAll(null));
  const said = [...world.lines, JSON.stringify(await world.facts(struck[0] ?? neighbour))];
  expect(said.filter((line) => line.includes(testKey))).toEqual([]);

  world.fix();
  // What is live is looked at only where something is covered.
  await world.passDay();
  await world.passDay();

  // Each is over when it ends; what was refused stays in quarantine, as evidence.
  for (const list of struck) {
    const facts = Object.entries(await world.facts(list));
    const left = facts.map(([name, { reason, quarantined }]) => [name, { reason, quarantined }]);
    const refused = names.map((name) => {
      const quarantined = expected[list]?.[name].quarantined;
      return [name, { reason: null, quarantined }];
    });
    expect(Object.fromEntries(left)).toEqual(Object.fromEntries(refused));
  }
  // Nothing is lost, doubled or damaged, but for blocks of a verified batch, which stay as served.
  const asServed = struck.includes('optimism-batch-blocks') ? verifiedAsServed : [];
  const blocksAlone = { 'blocks (97 expected, 97 stored)': expect.anything() as object };
  const differing = Object.fromEntries(asServed.map((name) => [name, blocksAlone]));
  expect(await world.differences()).toEqual({ ...ofAll({}), ...differing });
  // A person has them read again.
  const ids = asServed.map((name) => firstId + names.indexOf(name as HostileFault));
  await world.pool.query('delete from explorer.read_batches where chain_id = any($1)', [ids]);
  await recountCoverage(world.db);
  await world.passDay();
  expect(await world.differences()).toEqual(ofAll({}));

  expect(elsewhere()).toBe(0);
  expect({}).not.toHaveProperty('polluted');
  expect(await ledgerFaults(world.pool, 'under-way')).toEqual({});
});

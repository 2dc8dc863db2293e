import { beforeAll, describe, expect, test } from 'vitest';
import type { HostileFault } from '../../simulator/index.ts';
import { ledgerFaults } from '../harness/ledger.ts';
import {
  failed,
  idle,
  noPages,
  passRun,
  playHostile,
  type ExpectedByFault,
  type HostileStory,
} from './hostile-story.ts';

/** Three batches in eleven pages, the first three of which the search for the newest reads twice. */
const allBlocks = idle(97);
/** One block of each page. */
const elevenRefused = idle(86, 11);

const batches: ExpectedByFault = {
  ...noPages,
  'wrong-order': { ...allBlocks, state: 'unordered', reason: /^unordered: / },
  'page-of-10000': allBlocks,
  'cursor-repeated': failed(60, /^cursor loop/u),
  'cursor-circle-of-3': failed(86, /^cursor loop/u),
  'cursor-circle-of-1000': failed(1000, /^cursor loop/u),
  // A list without tokens: what grows is no cursor of it.
  'cursor-growing': failed(20, /^cursor unreadable: block_number: /u),
  // A block is nothing without its height.
  'number-1e400': elevenRefused,
  'number-negative': elevenRefused,
  'number-hex': elevenRefused,
  'number-float': elevenRefused,
  'number-huge': elevenRefused,
  // A time that is none is kept beside its column.
  'time-of-year-10000': allBlocks,
  'time-of-year-0': allBlocks,
  'time-of-no-day': allBlocks,
  'string-of-1-mb': allBlocks,
  'nested-1000': elevenRefused,
  'nested-100000': elevenRefused,
  'lone-surrogate': allBlocks,
  'proto-key': allBlocks,
  'constructor-key': allBlocks,
};

const allFactories = idle(45);
/** One factory of each of the five pages. */
const fiveRefused = idle(40, 5);

const factories: ExpectedByFault = {
  ...noPages,
  // Rows that seem to move: walked three times, and published with a note.
  'wrong-order': allFactories,
  'page-of-10000': allFactories,
  'cursor-repeated': failed(20, /^cursor loop/u),
  'cursor-circle-of-3': failed(30, /^cursor loop/u),
  'cursor-circle-of-1000': failed(1000, /^cursor loop/u),
  'cursor-growing': failed(45, /^cursor unreadable: page_token: is longer than 4096 characters/u),
  // A count that is none is kept beside its column: the address alone makes a factory.
  'number-1e400': allFactories,
  'number-negative': allFactories,
  'number-hex': allFactories,
  'number-float': allFactories,
  'number-huge': allFactories,
  // Factories have no time: a field that is not known.
  'time-of-year-10000': allFactories,
  'time-of-year-0': allFactories,
  'time-of-no-day': allFactories,
  'string-of-1-mb': allFactories,
  'nested-1000': fiveRefused,
  'nested-100000': fiveRefused,
  'lone-surrogate': allFactories,
  'proto-key': allFactories,
  'constructor-key': allFactories,
};

const expected = { 'optimism-batch-blocks': batches, factories };
const lists = ['optimism-batch-blocks', 'factories'] as const;
const names = Object.keys(batches) as HostileFault[];

/** What these leave in a block does not keep its batch from being verified, and that is not read again. */
const verifiedAsServed = [
  'time-of-year-10000',
  'time-of-year-0',
  'time-of-no-day',
  'string-of-1-mb',
  'lone-surrogate',
  'proto-key',
  'constructor-key',
];

let story: HostileStory;
/** How tables differ once batches whose blocks are to be read again were forgotten. */
let readAgain: HostileStory['differing'];

beforeAll(async () => {
  story = await playHostile(expected, 'user-operations');
  await story.world.forgetBatches(verifiedAsServed);
  await passRun(story.world);
  readAgain = await story.world.differences();
  return () => story.world.close();
});

describe.each(lists)('%s', (list) => {
  describe.each(names)('%s', (name) => {
    const met = () => story.met[list]?.[name];

    test('leaves its feed in the state that says so, with its reason', () => {
      expect(met()?.state).toBe(expected[list][name].state);
      expect(met()?.reason ?? '').toMatch(expected[list][name].reason ?? /^$/u);
    });

    test('keeps what was sound, and what was not in quarantine', () => {
      const { stored, quarantined } = expected[list][name];
      expect(met()).toMatchObject({ stored, quarantined });
    });

    test('is over when it ends', () => {
      expect(story.recovered[list]?.[name]?.state).toBe('idle');
    });

    test('leaves what was refused in quarantine, as evidence', () => {
      const { quarantined } = expected[list][name];
      expect(story.recovered[list]?.[name]?.quarantined).toBe(quarantined);
    });
  });
});

test.each(names.filter((name) => !verifiedAsServed.includes(name)))(
  'after %s all tables are what they should be: nothing is lost, doubled or damaged',
  (name) => {
    expect(story.differing[name]).toEqual({});
  },
);

describe.each(verifiedAsServed)('a verified batch with what %s left in its blocks', (name) => {
  test('stays as it was served; nothing else differs', () => {
    expect(Object.keys(story.differing[name] ?? {})).toEqual(['blocks (97 expected, 97 stored)']);
  });

  test('is read again once its row is deleted', () => {
    expect(readAgain[name]).toEqual({});
  });
});

test('the other feed of each chain goes on', () => {
  expect(names.filter((name) => story.neighbours[name]?.state !== 'idle')).toEqual([]);
});

test('nothing is requested of the host that a redirect names', () => {
  expect(story.world.elsewhere()).toBe(0);
});

test('the ledger is whole', async () => {
  expect(await ledgerFaults(story.world.pool, 'under-way')).toEqual({});
});

import { beforeAll, describe, expect, test } from 'vitest';
import type { HostileFault } from '../../simulator/index.ts';
import { ledgerFaults } from '../harness/ledger.ts';
import { testKey } from '../harness/sync.ts';
import {
  failed,
  idle,
  noPages,
  playHostile,
  type ExpectedByFault,
  type HostileStory,
} from './hostile-story.ts';

const whole = idle(45);
/** One item of each of the five pages. */
const fiveRefused = idle(40, 5);

const expected: ExpectedByFault = {
  ...noPages,
  'wrong-order': { ...whole, state: 'unordered', reason: /^unordered: / },
  'page-of-10000': whole,
  'cursor-repeated': failed(20, /^cursor loop/u),
  'cursor-circle-of-3': failed(30, /^cursor loop/u),
  'cursor-circle-of-1000': failed(1000, /^cursor loop/u),
  'cursor-growing': failed(45, /^cursor unreadable: page_token: is longer than 4096 characters/u),
  // A block number or a time that is none is kept beside its column: the hash alone makes an operation.
  'number-1e400': whole,
  'number-negative': whole,
  'number-hex': whole,
  'number-float': whole,
  'number-huge': whole,
  'time-of-year-10000': whole,
  'time-of-year-0': whole,
  'time-of-no-day': whole,
  'string-of-1-mb': whole,
  'nested-1000': fiveRefused,
  'nested-100000': fiveRefused,
  'lone-surrogate': whole,
  'proto-key': whole,
  'constructor-key': whole,
};
const names = Object.keys(expected) as HostileFault[];

let story: HostileStory;

beforeAll(async () => {
  story = await playHostile({ 'user-operations': expected }, 'factories');
  return () => story.world.close();
});

describe.each(names)('%s', (name) => {
  const met = () => story.met['user-operations']?.[name];

  test('leaves its feed in the state that says so, with its reason', () => {
    expect(met()?.state).toBe(expected[name].state);
    expect(met()?.reason ?? '').toMatch(expected[name].reason ?? /^$/u);
  });

  test('keeps what was sound, and what was not in quarantine', () => {
    const { stored, quarantined } = expected[name];
    expect(met()).toMatchObject({ stored, quarantined });
  });

  test('is over when it ends: nothing is lost, doubled or damaged', () => {
    expect(story.recovered['user-operations']?.[name]?.state).toBe('idle');
    expect(story.differing[name]).toEqual({});
  });

  test('leaves what was refused in quarantine, as evidence', () => {
    const { quarantined } = expected[name];
    expect(story.recovered['user-operations']?.[name]?.quarantined).toBe(quarantined);
  });
});

test('other feeds of the same chains go on', () => {
  expect(names.filter((name) => story.neighbours[name]?.state !== 'idle')).toEqual([]);
});

test('nothing is requested of the host that a redirect names', () => {
  expect(story.world.elsewhere()).toBe(0);
});

test('no key is in any log line or reason', () => {
  const reasons = Object.values(story.met['user-operations'] ?? {}).map(({ reason }) => reason);
  const said = [...story.world.lines, ...reasons.map((reason) => reason ?? '')];
  expect(said.filter((line) => line.includes(testKey))).toEqual([]);
});

test('no object of this process is polluted', () => {
  expect({}).not.toHaveProperty('polluted');
});

test('the ledger is whole', async () => {
  expect(await ledgerFaults(story.world.pool, 'under-way')).toEqual({});
});

import { expect, test } from 'vitest';
import {
  isBounded,
  isBoundedBy,
  kindOf,
  settingsOf,
  targetOf,
  unitOf,
} from '../../../src/lists/index.ts';
import { operationNames } from '../../../src/lists/registry.ts';

test('each kind of list has the same members, 17 at most', () => {
  const members = operationNames.map((name) => Object.keys(kindOf(name)).toSorted().join());

  expect(new Set(members).size).toBe(1);
  expect(Object.keys(kindOf('factories')).length).toBeLessThanOrEqual(17);
});

test('only a list of blocks has bounds in blocks, and only one without verified numbers is read again', () => {
  const having = (bound: string) => operationNames.filter((name) => isBoundedBy(name, bound));

  expect(having('fromBlock')).toEqual(['user-operations', 'bundles']);
  expect(having('again')).toEqual(['user-operations', 'optimism-batches', 'bundles']);
  expect(having('fromBatch')).toEqual(['optimism-batch-blocks']);
});

test('verified ranges count blocks, batches or ranks', () => {
  expect(operationNames.map((name) => unitOf(name))).toEqual([
    'blocks',
    'batches',
    'batches',
    'ranks',
    'blocks',
    'ranks',
    'ranks',
  ]);
});

test.each([
  ['user-operations', { since: '2024-01-01', maxPages: 3 }, { since: '2024-01-01' }],
  ['user-operations', { since: null }, { since: null }],
  ['user-operations', { maxPages: 3, fromBatch: 1 }, null],
  ['optimism-batch-blocks', { toBatch: 9 }, { fromBatch: 1, toBatch: 9 }],
  ['factories', { maxPages: 3 }, null],
] as const)('%s: the bounds %o of a command are the target %o', (name, bounds, target) => {
  expect(targetOf(name, settingsOf(name).parse({}), bounds)).toEqual(target);
});

test('a feed whose settings bound it keeps them, whatever a command names', () => {
  const bounded = { ...settingsOf('optimism-batch-blocks').parse({}), fromBatch: 5 };

  expect(isBounded('optimism-batch-blocks', bounded)).toBe(true);
  expect(targetOf('optimism-batch-blocks', bounded, { fromBatch: 2 })).toBeNull();
});

import { expect, test } from 'vitest';
import {
  isBounded,
  isBoundedBy,
  kindOf,
  settingsOf,
  targetOf,
  unitOf,
} from '../../../src/lists/index.ts';
import type { Operation } from '../../../src/lists/operation.ts';
import { operationNames, operations } from '../../../src/lists/registry.ts';

const namesOf = (kind: Operation['kind']) =>
  operationNames.filter((name) => operations[name].kind === kind);

test('each kind of list has the same members, 17 at most', () => {
  const members = operationNames.map((name) => Object.keys(kindOf(name)).toSorted().join());

  expect(new Set(members).size).toBe(1);
  expect(Object.keys(kindOf('factories')).length).toBeLessThanOrEqual(17);
});

test('only a list of blocks has bounds in blocks, and only one without verified numbers is read again', () => {
  const having = (bound: string) => operationNames.filter((name) => isBoundedBy(name, bound));

  const newest = namesOf('newest-first');
  expect(having('fromBlock')).toEqual(newest.filter((name) => unitOf(name) === 'blocks'));
  expect(having('again')).toEqual(newest);
  expect(having('fromBatch')).toEqual(namesOf('numbered'));
});

test('verified ranges count blocks, batches or ranks', () => {
  const units = (kind: Operation['kind']) => new Set(namesOf(kind).map((name) => unitOf(name)));

  expect(units('newest-first')).toEqual(new Set(['blocks', 'batches']));
  expect(unitOf('optimism-batches')).toBe('batches');
  expect(units('numbered')).toEqual(new Set(['batches']));
  expect(units('ranked')).toEqual(new Set(['ranks']));
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

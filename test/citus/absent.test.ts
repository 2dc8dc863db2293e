import { expect, test } from 'vitest';
import { citusBinaries } from './binaries.ts';

test('a cluster of three servers', ({ skip }) => {
  skip(citusBinaries() === null, 'Citus is not installed');
  expect.unreachable();
});

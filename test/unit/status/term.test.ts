import { expect, test } from 'vitest';
import { readTerm } from '../../../src/status/trace.ts';

const [hash, address] = ['ab'.repeat(32), 'cd'.repeat(20)];

test.each([
  [`0x${hash}`, { is: 'hash', value: `0x${hash}` }],
  [`  0X${hash.toUpperCase()}\n`, { is: 'hash', value: `0x${hash}` }],
  [hash, { is: 'hash', value: `0x${hash}` }],
  [`0x${address}`, { is: 'address', value: `0x${address}` }],
  ['0', { is: 'height', value: '0' }],
  ['007', { is: 'height', value: '7' }],
  ['108,928,674', { is: 'height', value: '108928674' }],
  ['9223372036854775807', { is: 'height', value: '9223372036854775807' }],
])('%s is a %j', (text, term) => {
  expect(readTerm(text)).toEqual(term);
});

test.each([
  '',
  ' ',
  '0x',
  `0x${hash}0`,
  `0x${hash.slice(1)}g`,
  '-1',
  '1.5',
  '1e9',
  '1,23',
  '9223372036854775808',
  '９',
  "1'; drop table explorer.blocks; --",
  '<script>',
  '1'.repeat(100_000),
  `\0`,
])('%j is no term', (text) => {
  expect(readTerm(text)).toBeNull();
});

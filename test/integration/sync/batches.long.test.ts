import { test } from 'vitest';
import { edits, expectRepaired } from './batch-edits.ts';

test.each(['another batch', 'an update to come', 'another count'] as const)(
  '%s: verify names the batch, and repair reads it again',
  (what) => expectRepaired(edits[what]),
);

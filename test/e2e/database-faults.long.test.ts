import { test } from 'vitest';
import { expectOutlasted } from './database-faults.ts';

test.each([
  'its password is replaced',
  'its disk is full',
  'it becomes read-only',
  'a right is revoked',
  'a table is lost',
] as const)(
  'a start whose database fails because %s waits ever longer, says why, and goes on',
  (name) => expectOutlasted(name),
);

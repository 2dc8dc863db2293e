import { test } from 'vitest';
import { expectOutlasted } from './database-faults.ts';

test.each(['its password is replaced', 'its disk is full'] as const)(
  'a start whose database fails because %s waits ever longer, says why, and goes on',
  (name) => expectOutlasted(name),
);

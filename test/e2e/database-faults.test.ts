import { test } from 'vitest';
import { expectOutlasted } from './database-faults.ts';

test('a start whose database fails because its password is replaced waits ever longer, says why, and goes on', () =>
  expectOutlasted('its password is replaced'));

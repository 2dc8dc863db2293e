import { test } from 'vitest';
import { expectTrueCopy } from './truth-copy.ts';

test.each([
  ['optimism', 'v11'],
  ['optimism', 'v12'],
] as const)(
  'a chain of the %s family is copied row for row from generation %s',
  (family, generation) => expectTrueCopy(family, generation),
);

import { test } from 'vitest';
import { expectTruth } from '../liar/hold.ts';

test('whatever a service lies in forty more stories, what verify calls complete is true', () =>
  expectTruth(Array.from({ length: 40 }, (_, index) => index + 21)));

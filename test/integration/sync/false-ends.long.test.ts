import { test } from 'vitest';
import { endsOn, expectOnlyRead, expectWholeHistory, pages } from './false-ends.ts';

test.each(endsOn([1, pages - 1]))(
  'history whose page %i %s is read to its true end, for a request more, or two at an empty head',
  (nth, _, end) => expectWholeHistory(nth, end),
);

test.each(endsOn([4, 1]))(
  'a live poll whose page %i %s above stored operations covers only what it read',
  (nth, _, end) => expectOnlyRead(nth, end),
);

import { expect, test } from 'vitest';
import { type Answer, isBelieved } from '../../../src/sync/check.ts';

const contradicted = { is: 'contradicted', evidence: 'rows are stored below', question: null };
const answer = (
  suspicion: Answer['suspicion'],
  verdict: 'supported' | 'unsupported' | 'contradicted' = 'unsupported',
  isSame = false,
): Answer => ({
  suspicion,
  verdict: verdict === 'contradicted' ? (contradicted as Answer['verdict']) : { is: verdict },
  isSame,
});

test.each<[string, Answer | null, Answer, boolean]>([
  ['a page in the middle of a list', null, answer(null), true],
  ['a page in the middle, after an end', answer('end'), answer(null), true],
  ['an end that stored rows support', null, answer('end', 'supported'), true],
  ['a first end', null, answer('end'), false],
  ['a first end that rows contradict', null, answer('end', 'contradicted'), false],
  ['a first empty page', null, answer('empty'), false],
  ['times before since', null, answer('since'), false],
  ['the same end', answer('end'), answer('end', 'unsupported', true), true],
  ['the same times', answer('since'), answer('since', 'unsupported', true), true],
  ['a first page without the item of its cursor', null, answer('other'), false],
  ['the same empty page', answer('empty'), answer('empty', 'unsupported', true), true],
  ['another end', answer('end'), answer('end'), false],
  [
    'the same end, which shows something else',
    { ...answer('end'), verdict: { is: 'unsupported', shows: '0xa' } },
    { ...answer('end', 'unsupported', true), verdict: { is: 'unsupported', shows: '0xb' } },
    false,
  ],
  [
    'the same end, which rows contradicted',
    answer('end', 'contradicted'),
    answer('end', 'contradicted', true),
    false,
  ],
  [
    'the same end, which rows contradict by now',
    answer('end'),
    answer('end', 'contradicted', true),
    false,
  ],
  [
    'the same end, which rows contradicted and do not by now',
    answer('end', 'contradicted'),
    answer('end', 'unsupported', true),
    false,
  ],
  [
    'the same end, which rows support by now',
    answer('end', 'contradicted'),
    answer('end', 'supported', true),
    true,
  ],
])('%s', (_, before, now, expected) => {
  expect(isBelieved(before, now)).toBe(expected);
});

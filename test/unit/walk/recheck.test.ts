import { expect, test } from 'vitest';
import { type Answer, decide } from '../../../src/sync/check.ts';

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

test.each<[string, Answer | null, Answer, ReturnType<typeof decide>]>([
  ['a page in the middle of a list', null, answer(null), 'accept'],
  ['a page in the middle, after an end', answer('end'), answer(null), 'accept'],
  ['an end that stored rows support', null, answer('end', 'supported'), 'accept'],
  ['a first end', null, answer('end'), 'repeat'],
  ['a first end that rows contradict', null, answer('end', 'contradicted'), 'repeat'],
  ['a first empty page', null, answer('empty'), 'repeat'],
  ['times before since', null, answer('since'), 'repeat'],
  ['the same end', answer('end'), answer('end', 'unsupported', true), 'accept'],
  ['the same times', answer('since'), answer('since', 'unsupported', true), 'accept'],
  ['the same empty page', answer('empty'), answer('empty', 'unsupported', true), 'accept'],
  ['another end', answer('end'), answer('end'), 'repeat'],
  [
    'the same end, which rows contradicted',
    answer('end', 'contradicted'),
    answer('end', 'contradicted', true),
    'ask',
  ],
  [
    'the same end, which rows contradict by now',
    answer('end'),
    answer('end', 'contradicted', true),
    'repeat',
  ],
  [
    'the same end, which rows support by now',
    answer('end', 'contradicted'),
    answer('end', 'supported', true),
    'accept',
  ],
])('%s', (_, before, now, expected) => {
  expect(decide(before, now)).toBe(expected);
});

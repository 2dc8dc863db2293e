import { looksLikePage, messageOf } from './answer.ts';
import type { FailureClass } from '../failure.ts';

interface Answered {
  readonly statuses: readonly [from: number, to: number];
  /** What the answer's own message must match; absent: any. */
  readonly says?: RegExp;
  readonly failure: FailureClass;
}

/** Answer to class, first match first; the widest rules last. */
const answers: readonly Answered[] = [
  // A redirect is never followed: it would carry the key to another host.
  { statuses: [300, 399], failure: 'unreachable' },
  { statuses: [400, 400], says: /unknown api v2 action/iu, failure: 'unsupported' },
  { statuses: [400, 599], says: /service is disabled/iu, failure: 'unsupported' },
  { statuses: [400, 400], says: /^3: /u, failure: 'cursor-refused' },
  { statuses: [401, 401], failure: 'unauthorized' },
  { statuses: [402, 402], says: /credit/iu, failure: 'out-of-credits' },
  { statuses: [402, 402], says: /api key|payment/iu, failure: 'key-missing' },
  // An unknown 402 pauses the key until the reset, the one answer that spends nothing.
  { statuses: [402, 402], failure: 'out-of-credits' },
  { statuses: [403, 403], failure: 'unauthorized' },
  { statuses: [404, 404], says: /network not supported/iu, failure: 'unknown-chain' },
  { statuses: [408, 408], failure: 'unreachable' },
  { statuses: [425, 425], failure: 'unreachable' },
  { statuses: [429, 429], failure: 'throttled' },
  { statuses: [400, 499], failure: 'rejected' },
  { statuses: [501, 501], failure: 'unsupported' },
  { statuses: [500, 599], failure: 'unreachable' },
];

/**
 * The class of an answer, 'ok' for a page. Looks at a page's outside only: a large body passes
 * when it is an object from its first to its last byte, and decoding has the last word.
 */
export function classify(status: number, body: Buffer): FailureClass | 'ok' {
  if (status === 200) return looksLikePage(body) ? 'ok' : 'envelope-invalid';
  const said = messageOf(body) ?? '';
  const answer = answers.find(
    ({ statuses: [from, to], says }) =>
      status >= from && status <= to && (says?.test(said) ?? true),
  );
  return answer?.failure ?? 'envelope-invalid';
}

import type { StatusDocument } from '../documents/status.ts';
import type { Estimate } from '../lists/list.ts';
import type { FeedEvidence } from './evidence-facts.ts';
import type { FeedCoverage } from './lane-status.ts';

/** What tells how much of a list is proved. */
interface ShareFacts {
  readonly coverage: FeedCoverage | null;
  readonly evidence: Pick<
    FeedEvidence,
    'is_proved' | 'is_quarantined' | 'quarantined_places' | 'numbers'
  >;
  /** Rows that are stored of it. */
  readonly rows: number;
  /** What its history has left. */
  readonly left: Estimate;
  readonly pageSize: number;
}

type Share = Pick<StatusDocument['feeds'][number]['proved'], 'share' | 'basis'>;

const unknown: Share = { share: null, basis: 'unknown' };

/**
 * The part of a list that is proved, by the rule of `verify`: what can hold an item in quarantine is not. Of
 * numbers it is counted, without those that wait for what is to come. Of a list whose length is not known,
 * what is left is estimated in items as dense as those that were read: blocks would not do, because the
 * oldest ones hold few. Pure.
 */
export function provedShare({ coverage, evidence, rows, left, pageSize }: ShareFacts): Share {
  const { is_proved, is_quarantined, quarantined_places: held, numbers } = evidence;
  if (numbers !== null) {
    const { asked, proved, waiting } = numbers;
    return asked === waiting ? unknown : { share: proved / (asked - waiting), basis: 'known' };
  }
  if (coverage?.of === 'ranking') {
    return is_proved ? { share: is_quarantined ? 0 : 1, basis: 'known' } : unknown;
  }
  if (coverage?.of !== 'blocks') return unknown;
  if (is_proved && coverage.gaps === 0) {
    if (!is_quarantined) return { share: 1, basis: 'known' };
    return { share: coverage.covered / (coverage.covered + Math.max(1, held)), basis: 'known' };
  }
  if (left.requests === null) return unknown;
  const items = (left.likely ?? left.requests) * pageSize;
  const share = coverage.covered === 0 ? 0 : rows / Math.max(1, rows + items);
  return { share, basis: left.likely === null ? 'at-least' : 'reckoned' };
}

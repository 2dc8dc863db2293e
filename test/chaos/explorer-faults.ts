import {
  faultNames,
  openFault,
  type Fault,
  type FaultName,
  type Faults,
} from '../../simulator/index.ts';

/** Of all requests, those that a bad day of the service answers with a fault. */
const usualShare = 0.02;
/** A short run has as many of them as minutes of such a day. */
const shortShare = 0.08;

/** So that a limit of the key is met as often as all else together that a service says. */
const throttlingWeight = 3;
/** Each takes half a minute or two: a whole run has some, and still gets on. */
const slowWeight = 0.2;

const throttling: ReadonlySet<FaultName> = new Set([
  '429-bare',
  '429-seconds',
  '429-date',
  '429-reset',
]);
const slow: ReadonlySet<FaultName> = new Set(['byte-a-second', 'slow-headers', 'no-answer']);

/**
 * Left out. By these the explorer says that it does not serve a list, and the feed is looked at again
 * a day later; or that the key is worth nothing, and all feeds rest for five minutes, or until the
 * day's credits come. `test/fault/classes.test.ts` and `test/timed/` have them.
 */
const lasting: ReadonlySet<FaultName> = new Set([
  '400-action',
  '401',
  '402-credits',
  '402-key',
  '404-network',
  '501',
  '501-disabled',
]);

/**
 * What an item says in fields that nothing can check is believed, and a batch that is verified is never
 * read again: among blocks it would stay.
 */
const believed: ReadonlySet<FaultName> = new Set([
  'string-of-1-mb',
  'lone-surrogate',
  'proto-key',
  'constructor-key',
  'nested-1000',
  'nested-100000',
]);

export interface FaultPlan {
  /** Whether there is no time for answers that take minutes. */
  readonly isShort: boolean;
  readonly isCalm: () => boolean;
  readonly note: (name: FaultName) => void;
}

/** All faults that have a name and pass, drawn by weight. */
export function chaosFaults({ isShort, isCalm, note }: FaultPlan): Faults {
  const share = isShort ? shortShare : usualShare;
  const drawn = faultNames
    .filter((name) => !lasting.has(name) && !(isShort && slow.has(name)))
    .map((name) => ({ name, weight: weightOf(name), fault: openFault(name) }));
  const total = drawn.reduce((sum, { weight }) => sum + weight, 0);
  return ({ operation }, random): Fault | null => {
    if (isCalm() || random() >= share) return null;
    let left = random() * total;
    const chosen = drawn.find(({ weight }) => (left -= weight) < 0);
    if (chosen === undefined) return null;
    if (operation === 'optimism-batch-blocks' && believed.has(chosen.name)) return null;
    note(chosen.name);
    return chosen.fault;
  };
}

function weightOf(name: FaultName): number {
  if (slow.has(name)) return slowWeight;
  return throttling.has(name) ? throttlingWeight : 1;
}

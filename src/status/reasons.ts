import { failures } from '../failure.ts';
import { counted } from '../terminal/numbers.ts';
import { clock } from '../time.ts';
import { isRefusedInUse } from './credits.ts';
import type { OverallFacts } from './facts.ts';
import {
  isFailedByDatabase,
  isOfHost,
  isOutOfCredits,
  isRefused,
  isRejected,
  isStopped,
  isWaiting,
  outageOf,
} from './outages.ts';
import { isAbandoned, isAtWork, isHeld, isStalled } from './lanes.ts';
import {
  flagsWithoutFile,
  historyWaits,
  lastPageAt,
  lateText,
  limitsText,
  maintenanceText,
  outageText,
  positions,
  readingText,
  reasonIn,
  refusedKeyText,
  silentText,
  stalledText,
  unservedText,
  waitText,
  withoutCause,
} from './sentences.ts';
import { reasonCodes, type FeedStatus, type Reason } from './schema.ts';

interface Rule {
  /** Absent: the rule's name. */
  readonly code?: Reason['code'];
  /** Absent: `warning`. */
  readonly severity?: Reason['severity'];
  /** Whether it stops progress; absent: no. */
  readonly blocks?: boolean;
  /** The sentence for several feeds that differ in a number; absent: one reason for each. */
  readonly several?: string;
  readonly advice?: (feed: FeedStatus, facts: OverallFacts) => string | null;
  /** `continue`: `start` or `sync`, whichever ran before. */
  readonly command?: string;
  /** Whether it is of feeds that are meant to be still, which have no other reason. */
  readonly isOfHeld?: boolean;
  /** Whether a failing explorer, an unusable key or a list that is not served explains it. */
  readonly isConsequence?: boolean;
  /** Whether the command takes the flags of the only feed. */
  readonly isOfFeed?: boolean;
  /** The command for several feeds; absent: the same. */
  readonly commandOfSeveral?: string;
}

/** A reason that feeds give. */
interface FeedRule extends Rule {
  readonly is: (feed: FeedStatus, facts: OverallFacts) => boolean;
  readonly sentence: (feed: FeedStatus, facts: OverallFacts) => string;
}

/** A reason that concerns all feeds, or none. */
interface WholeRule extends Rule {
  readonly holds: (facts: OverallFacts) => boolean;
  readonly says: (facts: OverallFacts) => string;
}

const has = ({ lanes }: FeedStatus, state: FeedStatus['lanes'][number]['state']) =>
  lanes.some((lane) => lane.state === state);

/** No worker is normal while nothing is due, or after a person stopped it. */
const isDeserted = (feed: FeedStatus, facts: OverallFacts): boolean =>
  !isAtWork(facts.workers) &&
  (has(feed, 'no-worker') ||
    (!isStopped(feed, facts.outages) && (has(feed, 'paused') || feed.poll.is_met === false)));

/** A backfill is open. A new snapshot is none: the previous one stays valid. */
const isReading = ({ unit, lanes, verified }: FeedStatus): boolean =>
  (unit !== 'ranks' || !verified.is_verified) &&
  lanes.some((one) => one.lane === 'backfill' && one.run_state === 'open' && !isAbandoned(one));

/** Whether the explorer gives nothing for it, which has a reason of its own. */
const isUnserved = ({ state }: FeedStatus): boolean =>
  state === 'unsupported' || state === 'blocked';

const isCut = (feed: FeedStatus, { outages }: OverallFacts): boolean =>
  isUnserved(feed) || outageOf(feed, outages) !== null;

/** Whether missing data has no other reason: nothing reads it, or failed to. */
const isLeftOpen = (feed: FeedStatus): boolean =>
  !isUnread(feed) &&
  !isUnserved(feed) &&
  !isReading(feed) &&
  !feed.lanes.some((one) => one.lane === 'backfill' && isAbandoned(one));

const isProgressing = (feed: FeedStatus): boolean => isReading(feed) && historyWaits(feed) === null;

const isUnread = ({ state }: FeedStatus): boolean => state === 'pending';

/** Whether its rows are of readings that a reset has forgotten. */
const isReset = ({ rows, pages }: FeedStatus): boolean => rows > 0 && pages === 0;

/** Every reason: severity, effect on progress, condition, sentence and advice. */
const rules = {
  'database-failing': {
    severity: 'action',
    blocks: true,
    is: isFailedByDatabase,
    sentence: reasonIn,
    several: 'The database refuses to store pages.',
    advice: ({ failure }) => (failure === null ? null : failures[failure].advice),
    command: 'explorer-etl check --no-requests',
  },
  'key-refused': {
    severity: 'action',
    blocks: true,
    is: isRefused,
    sentence: ({ failure }) =>
      failure === 'key-missing'
        ? 'The explorer saw no API key.'
        : 'The explorer does not accept the API key.',
    advice: ({ failure }) => failure && withoutCause(failures[failure].advice),
    command: 'explorer-etl check',
  },
  /** While other processes use another key, its feeds fail only as long as this one has them. */
  'key-refused-of-some': {
    code: 'key-refused',
    severity: 'action',
    blocks: true,
    holds: ({ feeds, credits }) => !feeds.some(isRefused) && credits.keys.some(isRefusedInUse),
    says: refusedKeyText,
    command: 'explorer-etl check',
  },
  'request-rejected': {
    severity: 'action',
    blocks: true,
    is: isRejected,
    sentence: reasonIn,
    advice: () => failures.rejected.advice,
    command: 'explorer-etl check',
  },
  'explorer-unreachable': {
    blocks: true,
    is: (feed, { outages }) => outageOf(feed, outages) !== null,
    sentence: outageText,
    advice: (feed, { outages }) =>
      failures[outageOf(feed, outages)?.failure ?? 'unreachable'].advice,
    command: 'explorer-etl check',
  },
  unsupported: {
    severity: 'action',
    is: ({ state }) => state === 'unsupported',
    sentence: (feed) =>
      `${unservedText(feed.failure)}: ${reasonIn(feed).replace(`${feed.failure}: `, '')}`,
    advice: ({ failure }) =>
      failure === null || failure === 'unsupported'
        ? 'Remove it from the file: its rows stay. Or leave it: it is polled again once a day.'
        : withoutCause(failures[failure].advice),
  },
  quarantine: {
    severity: 'action',
    is: ({ quarantined }) => quarantined > 0,
    sentence: ({ quarantined }) => `${counted(quarantined, 'item')} in quarantine.`,
    several: 'Items are in quarantine.',
    command: 'explorer-etl quarantine list',
  },
  'no-worker': {
    blocks: true,
    is: isDeserted,
    sentence: (_, { feeds, at, outages }) => {
      // In an outage, workers have no page.
      const since = outages.length > 0 ? null : lastPageAt(feeds);
      return since === null ? 'No worker.' : `No worker. No page since ${clock(since, at)}.`;
    },
    command: 'continue',
  },
  'no-worker-of-feed': {
    code: 'no-worker',
    isConsequence: true,
    blocks: true,
    is: (feed, facts) => isAtWork(facts.workers) && has(feed, 'no-worker'),
    sentence: () => 'No worker reads its open run.',
  },
  paused: {
    blocks: true,
    is: (feed, { outages }) => isStopped(feed, outages),
    sentence: () => 'Paused (Ctrl-C or --for). Progress is saved.',
    command: 'continue',
  },
  held: {
    code: 'paused',
    isOfHeld: true,
    is: ({ paused_since }) => paused_since !== null,
    sentence: ({ paused_since }, { at }) => `Paused since ${clock(paused_since ?? '', at)}.`,
    command: 'explorer-etl feeds resume',
    isOfFeed: true,
    commandOfSeveral: 'explorer-etl feeds',
  },
  'out-of-credits': {
    blocks: true,
    is: (feed) => isWaiting(feed) && isOutOfCredits(feed),
    sentence: (feed, facts) =>
      feed.failure === 'daily-limit'
        ? withoutCause(reasonIn(feed))
        : waitText(feed, facts, 'out of credits'),
    advice: ({ failure }) => (failure === 'daily-limit' ? failures[failure].advice : null),
    command: 'explorer-etl plan',
  },
  throttled: {
    blocks: true,
    is: (feed) => isWaiting(feed) && !isOutOfCredits(feed),
    sentence: (feed, facts) => waitText(feed, facts, 'throttled'),
    advice: () => failures.throttled.advice,
  },
  'source-silent': {
    isConsequence: true,
    blocks: true,
    is: ({ newest_item }) => newest_item?.is_met === false,
    sentence: silentText,
    several: 'No new items for far longer than usual.',
    advice: () =>
      'If its website shows newer ones, check base_url and the chain. If not, the explorer has stopped: wait.',
  },
  stalled: {
    isConsequence: true,
    blocks: true,
    is: ({ lanes }) => lanes.some(isStalled),
    sentence: stalledText,
    several: 'No page for minutes.',
  },
  failing: {
    is: (feed, facts) =>
      feed.state === 'failing' &&
      !feed.lanes.some(isStalled) &&
      !isFailedByDatabase(feed) &&
      !(isOfHost(feed) && outageOf(feed, facts.outages)),
    sentence: reasonIn,
    // What has no class is the service's too.
    advice: ({ failure }) => failures[failure ?? 'unordered'].advice,
  },
  late: {
    isConsequence: true,
    blocks: true,
    // The missing worker explains the late poll.
    is: ({ poll }, facts) =>
      poll.is_met === false && !facts.feeds.some((feed) => isDeserted(feed, facts)),
    sentence: lateText,
    several: 'Not polled on schedule.',
  },
  maintenance: {
    holds: ({ maintenance }) => maintenance.length > 0,
    says: maintenanceText,
    command: 'explorer-etl check',
  },
  'limits-differ': {
    holds: ({ credits }) => credits.keys.some(({ limits }) => limits.length > 1),
    says: limitsText,
  },
  gap: {
    is: (feed) => feed.verified.gaps > 0 && isLeftOpen(feed),
    sentence: (feed) =>
      `${positions(feed.verified.missing, feed)} not downloaded; no backfill is running.`,
    several: 'History not downloaded; no backfill is running.',
    advice: () => 'plan estimates its cost.',
    command: 'explorer-etl backfill',
    isOfFeed: true,
  },
  'unverified-batches': {
    code: 'unverified',
    // With unread batches, which have their own reason, these wait for them.
    is: ({ verified: { batches } }) =>
      batches !== null && batches.unverified > 0 && batches.unread === 0,
    sentence: (feed) =>
      `${positions(feed.verified.batches?.unverified ?? 0, feed)} downloaded, but not verified.`,
    several: 'Batches are downloaded, but not verified.',
    command: 'explorer-etl repair',
    isOfFeed: true,
  },
  'batches-without-blocks': {
    code: 'unverified',
    is: ({ verified: { batches } }) => (batches?.without_blocks ?? 0) > 0,
    sentence: (feed) =>
      `${positions(feed.verified.batches?.without_blocks ?? 0, feed)} listed, but without blocks.`,
    several: 'Batches are listed, but without blocks.',
    advice: () => 'Nothing to do: each poll requests them; report it to the service if it lasts.',
  },
  unverified: {
    is: (feed) => feed.verified.gaps === 0 && !feed.verified.is_verified && isLeftOpen(feed),
    // A part is verified, and the search for what is requested above found nothing.
    sentence: ({ verified: { positions: own } }) =>
      own > 0 ? 'The newest batch is not found yet.' : 'Nothing is verified.',
    command: 'explorer-etl verify',
  },
  'nothing-stored': {
    code: 'pending',
    holds: (facts) => !isAtWork(facts.workers) && facts.feeds.every(isUnread),
    says: ({ feeds }) =>
      feeds.some(isReset) ? 'Not read since the reset.' : 'Nothing is stored yet.',
    command: 'explorer-etl sync',
  },
  pending: {
    is: (feed, facts) => isUnread(feed) && !isAtWork(facts.workers) && !facts.feeds.every(isUnread),
    sentence: (feed) => (isReset(feed) ? 'Not read since its reset.' : 'Never read.'),
    command: 'explorer-etl sync',
    isOfFeed: true,
  },
  /** `pending` while a worker runs: it begins within seconds. */
  starting: {
    code: 'pending',
    severity: 'info',
    is: (feed, facts) => isUnread(feed) && isAtWork(facts.workers),
    sentence: () => 'Waiting for the first page.',
  },
  'first-feed': {
    code: 'pending',
    severity: 'info',
    holds: (facts) => facts.feeds.length === 0 && isAtWork(facts.workers),
    says: () => 'Waiting for the first page.',
  },
  'history-waits': {
    code: 'reading',
    severity: 'info',
    is: (feed) => isReading(feed) && !isProgressing(feed),
    sentence: (feed) => historyWaits(feed) ?? '',
    advice: () => failures['history-share'].advice,
  },
  reading: {
    isConsequence: true,
    severity: 'info',
    is: isProgressing,
    sentence: (_, { feeds, at }) => readingText(feeds.filter(isProgressing), at),
  },
} satisfies Readonly<Record<string, FeedRule | WholeRule>>;

/** Every reason against the overall state healthy, the most severe first. Pure. */
export const reasonsOf = (facts: OverallFacts): Reason[] =>
  Object.entries<FeedRule | WholeRule>(rules)
    .flatMap(([name, rule]) => reasonsBy(name, rule, facts))
    .toSorted((one, other) => reasonCodes.indexOf(one.code) - reasonCodes.indexOf(other.code));

/** Merges equal reasons of several feeds. */
function reasonsBy(name: string, rule: FeedRule | WholeRule, facts: OverallFacts): Reason[] {
  const { code = name as Reason['code'], severity = 'warning', blocks = false, several } = rule;
  const found = Map.groupBy(findingsBy(rule, facts), ({ sentence, advice }) =>
    JSON.stringify([several ?? sentence, advice]),
  );
  return [...found.values()].flatMap((alike) => {
    const [sentence = '', ...others] = new Set(alike.map((one) => one.sentence));
    const feeds = alike.flatMap((one) => one.feeds);
    return {
      code,
      severity,
      blocks_readiness: blocks,
      feeds,
      sentence: others.length === 0 ? sentence : (several ?? sentence),
      advice: alike[0]?.advice ?? null,
      command: commandOf(rule, feeds, facts),
    };
  });
}

function findingsBy(rule: FeedRule | WholeRule, facts: OverallFacts) {
  if ('holds' in rule) {
    return rule.holds(facts) ? [{ feeds: [], sentence: rule.says(facts), advice: null }] : [];
  }
  return facts.feeds
    .filter((feed) => isHeld(feed) === (rule.isOfHeld ?? false))
    .filter((feed) => !(rule.isConsequence === true && isCut(feed, facts)))
    .filter((feed) => rule.is(feed, facts))
    .map((feed) => ({
      feeds: [feed.feed],
      sentence: rule.sentence(feed, facts),
      advice: rule.advice?.(feed, facts) ?? null,
    }));
}

function commandOf(
  { command, isOfFeed = false, commandOfSeveral = command }: Rule,
  feeds: readonly string[],
  { feeds: all }: OverallFacts,
): string | null {
  if (command === undefined) return null;
  if (command === 'continue') {
    const isScheduled = all.some(({ poll }) => poll.target?.from === 'schedule');
    return isScheduled ? 'explorer-etl start' : `explorer-etl sync${flagsWithoutFile(all)}`;
  }
  const [only = '', ...others] = feeds;
  // The flags of several feeds would choose further ones.
  if (others.length > 0) return commandOfSeveral ?? null;
  if (!isOfFeed || only === '') return command;
  const [chain, operation] = only.split('/');
  return `${command} --chain ${chain} --operation ${operation}`;
}

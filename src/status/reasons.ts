import { failures, type FailureClass } from '../failure.ts';
import { counted, duration } from '../terminal/numbers.ts';
import { reasonCodes, type FeedStatus, type Reason } from './schema.ts';

type Code = Reason['code'];

/** Parts of sentences; each reason uses some. */
interface Details {
  readonly failure?: FailureClass | null;
  /** The message of the explorer or the database. */
  readonly said?: string | null;
  readonly count?: number;
  readonly unit?: FeedStatus['unit'];
  readonly age_s?: number | null;
  readonly limit_s?: number;
  readonly since?: string | null;
  readonly until?: string | null;
}

interface Rule {
  /** Absent: the rule's name. */
  readonly code?: Code;
  /** Absent: `warning`. */
  readonly severity?: Reason['severity'];
  /** Whether it stops progress; absent: no. */
  readonly blocks?: boolean;
  readonly sentence: (details: Details, at: Date) => string;
  /** The sentence for several feeds that differ in a number; absent: one reason for each. */
  readonly several?: string;
  readonly advice?: (details: Details) => string | null;
  /** `continue`: `start` or `sync`, whichever ran before. */
  readonly command?: string;
  /** Whether the command takes the flags of the only feed. */
  readonly isOfFeed?: boolean;
}

/** A time of day, with the date unless it is today. */
export function clock(time: string, at: Date): string {
  const [day = '', hour = ''] = new Date(time).toISOString().split('T');
  const minutes = `${hour.slice(0, 5)} UTC`;
  return at.toISOString().startsWith(day) ? minutes : `${day} ${minutes}`;
}

const untilText = (until: string | null | undefined, at: Date, about = '') =>
  until === undefined || until === null ? '' : ` until ${about}${clock(until, at)}`;

const positions = ({ count = 0, unit = 'blocks' }: Details) =>
  unit === 'batches' ? counted(count, 'batch', 'batches') : counted(count, unit.slice(0, -1));

/** A stored reason without its advice, which has its own field. */
function saidOf({ failure, said }: Details): string {
  const advice = failure === null || failure === undefined ? '' : failures[failure].advice;
  const text = (said ?? failure ?? 'failed').replace(advice, '').trim();
  return /[.!?]$/u.test(text) ? text : `${text}.`;
}

/** Every reason: severity, effect on progress, sentence and advice. */
const rules = {
  'database-unreachable': {
    blocks: true,
    sentence: ({ said }) => `The database is unreachable: ${said}.`,
  },
  unreadable: {
    code: 'database-unreachable',
    blocks: true,
    sentence: ({ said }) => `The database did not report the status: ${said}.`,
  },
  'key-refused': {
    severity: 'action',
    blocks: true,
    sentence: ({ failure }) =>
      failure === 'key-missing'
        ? 'The explorer saw no API key.'
        : 'The explorer does not accept the API key.',
    command: 'explorer-etl check',
  },
  'request-rejected': {
    severity: 'action',
    blocks: true,
    sentence: saidOf,
    advice: () => failures.rejected.advice,
    command: 'explorer-etl check',
  },
  unsupported: {
    severity: 'action',
    sentence: ({ failure }) =>
      failure === 'unknown-chain'
        ? 'The explorer does not serve this chain.'
        : 'The explorer does not serve this list on this chain.',
    advice: ({ failure }) =>
      failure === 'unknown-chain'
        ? failures['unknown-chain'].advice
        : 'Remove it from the configuration, or leave it: it is polled again once a day.',
  },
  quarantine: {
    severity: 'action',
    sentence: ({ count = 0 }) => `${counted(count, 'item')} in quarantine.`,
    several: 'Items are in quarantine.',
    command: 'explorer-etl quarantine list',
  },
  'no-worker': {
    blocks: true,
    sentence: ({ since }, at) =>
      since === null || since === undefined ? 'No worker.' : `No worker since ${clock(since, at)}.`,
    command: 'continue',
  },
  'no-worker-of-feed': {
    code: 'no-worker',
    blocks: true,
    sentence: () => 'No worker reads its open run.',
  },
  paused: {
    blocks: true,
    sentence: () => 'Paused (Ctrl-C). Progress is saved.',
    command: 'continue',
  },
  'out-of-credits': {
    blocks: true,
    sentence: ({ until }, at) => `The key is out of credits${untilText(until, at)}.`,
    command: 'explorer-etl plan',
  },
  throttled: {
    blocks: true,
    sentence: ({ until }, at) => `The key is throttled${untilText(until, at)}.`,
    advice: () => failures.throttled.advice,
  },
  'source-silent': {
    blocks: true,
    sentence: ({ unit, age_s = null, limit_s = 0 }) =>
      `No new ${unit === 'batches' ? 'batches' : 'items'} for ${duration(age_s)}; usually one every ${duration(limit_s)}.`,
    several: 'No new items for far longer than usual.',
    advice: () =>
      'If its website shows newer ones, check base_url and the chain. Else wait: the explorer stands still.',
  },
  'standby-behind': {
    blocks: true,
    sentence: ({ age_s = null }) =>
      age_s === null
        ? 'This standby does not know how far it is behind its primary.'
        : `This standby is ${duration(age_s)} behind its primary.`,
  },
  stalled: {
    blocks: true,
    sentence: ({ age_s = null }) => `No page for ${duration(age_s)}.`,
    several: 'No page for minutes.',
  },
  unseen: {
    code: 'stalled',
    blocks: true,
    sentence: () => 'No page for minutes; only the primary sees workers.',
  },
  failing: {
    sentence: saidOf,
    advice: ({ failure }) =>
      failure === null || failure === undefined
        ? 'Nothing to do: what is not verified is read again; report it to the service if it lasts.'
        : failures[failure].advice,
  },
  late: {
    blocks: true,
    sentence: ({ age_s = null, limit_s = 0 }) =>
      age_s === null
        ? `Never polled; target ${duration(limit_s)}.`
        : `Last polled ${duration(age_s)} ago; target ${duration(limit_s)}.`,
    several: 'Not polled on schedule.',
  },
  gap: {
    sentence: (details) => `${positions(details)} not downloaded; no backfill is running.`,
    several: 'History not downloaded; no backfill is running.',
    advice: () => 'plan estimates its cost.',
    command: 'explorer-etl backfill',
    isOfFeed: true,
  },
  'unverified-batches': {
    code: 'unverified',
    sentence: (details) => `${positions(details)} downloaded, but not verified.`,
    several: 'Batches are downloaded, but not verified.',
    command: 'explorer-etl repair',
    isOfFeed: true,
  },
  'batches-without-blocks': {
    code: 'unverified',
    sentence: (details) => `${positions(details)} listed, but without blocks.`,
    several: 'Batches are listed, but without blocks.',
    advice: () => 'Nothing to do: each poll requests them; report it to the service if it lasts.',
  },
  unverified: {
    sentence: () => 'Nothing is verified.',
    command: 'explorer-etl verify',
  },
  pending: {
    sentence: () => 'Never read.',
    command: 'explorer-etl sync',
    isOfFeed: true,
  },
  'nothing-stored': {
    code: 'pending',
    sentence: () => 'Nothing is stored yet.',
    command: 'explorer-etl sync',
  },
  /** `pending` while a worker runs: it begins within seconds. */
  starting: {
    code: 'pending',
    severity: 'info',
    sentence: () => 'Waiting for the first page.',
  },
  reading: {
    severity: 'info',
    sentence: ({ count = 0, until }, at) =>
      `Reading history of ${counted(count, 'feed')}${untilText(until, at, 'about ')}.`,
  },
} satisfies Readonly<Record<string, Rule>>;

type RuleName = keyof typeof rules;

/** A reason of one feed or of several. */
export interface Found extends Details {
  readonly rule: RuleName;
  readonly feeds: readonly string[];
}

/** Merges equal reasons of several feeds, the most severe first. Pure. */
export function gathered(
  found: readonly Found[],
  at: Date,
  feeds: readonly FeedStatus[],
): Reason[] {
  const groups = Map.groupBy(found, (one) => {
    const { sentence, several, advice }: Rule = rules[one.rule];
    return JSON.stringify([one.rule, several ?? sentence(one, at), advice?.(one)]);
  });
  return [...groups.values()]
    .map((group) => together(group, at, feeds))
    .toSorted((one, other) => reasonCodes.indexOf(one.code) - reasonCodes.indexOf(other.code));
}

function together(group: readonly Found[], at: Date, all: readonly FeedStatus[]): Reason {
  const [first = { rule: 'unverified', feeds: [] } as const] = group;
  const { rule, ...details }: Found = first;
  const { code, severity = 'warning', blocks = false, several, ...says }: Rule = rules[rule];
  const sentences = new Set(group.map((one) => says.sentence(one, at)));
  const feeds = [...new Set(group.flatMap((one) => one.feeds))];
  return {
    code: code ?? (rule as Code),
    severity,
    blocks_readiness: blocks,
    feeds,
    sentence: sentences.size > 1 && several !== undefined ? several : says.sentence(details, at),
    advice: says.advice?.(details) ?? null,
    command: commandOf(says, feeds, all),
  };
}

function commandOf(
  { command, isOfFeed = false }: Pick<Rule, 'command' | 'isOfFeed'>,
  feeds: readonly string[],
  all: readonly FeedStatus[],
): string | null {
  if (command === undefined) return null;
  if (command === 'continue') {
    const isScheduled = all.some(({ poll }) => poll.target?.from === 'schedule');
    return isScheduled ? 'explorer-etl start' : 'explorer-etl sync';
  }
  const [only = '', ...others] = feeds;
  // The flags of several feeds would choose further ones.
  if (!isOfFeed || only === '' || others.length > 0) return command;
  const [chain, operation] = only.split('/');
  return `${command} --chain ${chain} --operation ${operation}`;
}

import type { StatusDocument } from '../documents/status.ts';
import { failures, type FailureClass } from '../failure.ts';
import { counted, duration } from '../terminal/numbers.ts';
import { clock } from './status-words.ts';

type Reason = StatusDocument['verdict']['reasons'][number];

/** One thing that a person is told, of all feeds that have it. */
export interface Advice {
  /** Empty: it is about all. */
  readonly feeds: readonly string[];
  readonly text: string;
  /** What to do where no command does it; null: nothing, or a command does. */
  readonly todo: string | null;
  readonly command: string | null;
}

/** What is told once for each feed, so that feeds with the same can share a line. */
interface Said extends Omit<Advice, 'feeds' | 'command'> {
  readonly feeds: readonly string[];
  /** A command that takes `--chain` and `--operation`, or null. */
  readonly command: string | null;
  /** Whether the command is about the feed alone, where there is only one. */
  readonly isOfFeed: boolean;
}

/** What to tell a person, the gravest first: feeds of which the same is to be said are named together. Pure. */
export function adviceOf(document: StatusDocument): Advice[] {
  const { reasons } = document.verdict;
  const isStopped = reasons.some(({ kind }) => kind === 'nobody-works');
  const told = reasons
    // That nobody works says so already; and what is going well needs nobody.
    .filter(
      ({ kind }, at) => kind !== (at === 0 ? null : 'reading') && !(isStopped && kind === 'late'),
    )
    .map((reason) => say(reason, document));
  const groups = Map.groupBy(told, ({ text, command, todo }) =>
    JSON.stringify([text, command, todo]),
  );
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const { text, todo, isOfFeed } = first;
    const feeds = [...new Set(group.flatMap((one) => one.feeds))];
    const command =
      first.command === null || !isOfFeed ? first.command : `${first.command}${chosen(feeds)}`;
    return [{ feeds, text, todo, command }];
  });
}

/** The flags that choose one feed; none where there are several, because each flag would choose more. */
function chosen(feeds: readonly string[]): string {
  const [only, ...others] = feeds;
  if (only === undefined || others.length > 0) return '';
  const [chain = '', operation = ''] = only.split('/');
  return ` --chain ${chain} --operation ${operation}`;
}

const nothing = { feeds: [], todo: null, command: null, isOfFeed: false } as const;

function say(reason: Reason, document: StatusDocument): Said {
  switch (reason.kind) {
    case 'database-away':
      return { ...nothing, text: reason.message };
    case 'key-refused':
    case 'waiting':
      return sayOfKey(reason, document);
    case 'nobody-works':
    case 'paused':
    case 'never-read':
    case 'standby-behind':
    case 'unseen':
    case 'reading':
      return sayOfAll(reason, document);
    default:
      return { ...sayOfFeed(reason), feeds: [reason.feed] };
  }
}

function sayOfKey(
  reason: Extract<Reason, { kind: 'key-refused' | 'waiting' }>,
  { as_of }: StatusDocument,
): Said {
  if (reason.kind === 'key-refused') {
    const text =
      reason.failure === 'key-missing'
        ? 'the explorer saw no API key'
        : 'the explorer does not accept the API key';
    return { ...nothing, text, command: 'explorer-etl check' };
  }
  const until = reason.until === null ? '' : ` until ${clock(reason.until, as_of)}`;
  return reason.failure === 'out-of-credits'
    ? { ...nothing, text: `the key is out of credits${until}`, command: 'explorer-etl plan' }
    : { ...nothing, text: `the key is throttled${until}` };
}

function sayOfAll(
  reason: Extract<
    Reason,
    { kind: 'nobody-works' | 'paused' | 'never-read' | 'standby-behind' | 'unseen' | 'reading' }
  >,
  { feeds, as_of, workers }: StatusDocument,
): Said {
  // Whoever worked by schedules goes on by them.
  const byStart = feeds.some(({ freshness }) => freshness.objective?.from === 'schedule');
  const again = `explorer-etl ${byStart ? 'start' : 'sync'}`;
  switch (reason.kind) {
    case 'nobody-works': {
      const age = reason.last_page_age_s;
      const last = age === null ? '' : `; last page ${duration(age)} ago`;
      return { ...nothing, text: `nobody is working${last}`, command: again };
    }
    case 'paused':
      return { ...nothing, text: 'it was told to stop; what was read is kept', command: again };
    case 'never-read': {
      const isOfAll = reason.feeds.length === feeds.length;
      const command = (workers?.start ?? 0) > 0 ? null : again;
      return isOfAll
        ? { ...nothing, text: 'nothing is stored yet', command }
        : {
            ...nothing,
            feeds: reason.feeds,
            text: 'never read',
            command,
            isOfFeed: command !== null && !byStart,
          };
    }
    case 'standby-behind':
      return {
        ...nothing,
        text:
          reason.behind_s === null
            ? 'nobody knows how far this standby is behind'
            : `this standby is ${duration(reason.behind_s)} behind its primary`,
      };
    case 'unseen':
      return {
        ...nothing,
        feeds: reason.feeds,
        text: 'no page for minutes; only the primary knows who works on it',
      };
    case 'reading': {
      const ends = reason.ends_at === null ? '' : `, until about ${clock(reason.ends_at, as_of)}`;
      return { ...nothing, text: `${counted(reason.feeds.length, 'feed')}${ends}` };
    }
  }
}

function sayOfFeed(
  reason: Exclude<
    Reason,
    {
      kind:
        | 'database-away'
        | 'key-refused'
        | 'waiting'
        | 'nobody-works'
        | 'paused'
        | 'never-read'
        | 'standby-behind'
        | 'unseen'
        | 'reading';
    }
  >,
): Omit<Said, 'feeds'> {
  const own = { ...nothing, isOfFeed: true };
  switch (reason.kind) {
    case 'rejected':
      return {
        ...own,
        ...toldBy('rejected', reason.reason),
        isOfFeed: false,
        command: 'explorer-etl check',
      };
    case 'unsupported':
      return {
        ...own,
        text: 'the explorer does not serve this list on this chain',
        todo: 'remove it from the configuration, or leave it: it is looked at once a day',
      };
    case 'quarantine':
      return {
        ...own,
        text: `${counted(reason.items, 'item')} in quarantine`,
        isOfFeed: false,
        command: 'explorer-etl quarantine list',
      };
    case 'damaged':
      return { ...own, text: 'damaged rows are to be read again', command: 'explorer-etl repair' };
    case 'failed':
    case 'degraded':
      return { ...own, ...toldBy(reason.failure, reason.reason ?? reason.kind) };
    case 'unordered':
      return {
        ...own,
        text: reason.reason ?? 'the service broke the order of the list',
        todo: 'Nothing to do: what was not proved is read again; report it to the service if it lasts.',
      };
    case 'stalled':
      return { ...own, text: `no page for ${duration(reason.quiet_s)}` };
    case 'unattended':
      return { ...own, text: 'nobody works on its open run' };
    case 'late': {
      const age =
        reason.age_s === null ? 'never looked at' : `last looked at ${duration(reason.age_s)} ago`;
      return { ...own, text: `${age}, should be within ${duration(reason.objective.seconds)}` };
    }
    case 'gap':
      return {
        ...own,
        text: `${counted(reason.missing, reason.unit === 'blocks' ? 'block' : 'batch', reason.unit)} missing, and nobody reads them`,
        command: 'explorer-etl backfill',
      };
    case 'doubtful':
      return {
        ...own,
        text: `${counted(reason.batches, 'batch', 'batches')} read and not proved`,
        command: 'explorer-etl repair',
      };
    case 'unproved':
      return { ...own, text: 'nothing proves it', command: 'explorer-etl verify' };
  }
}

/** A failure's reason ends with what to do: the two are told one below the other. */
function toldBy(failure: FailureClass | null, reason: string | null): Pick<Said, 'text' | 'todo'> {
  const text = reason ?? failure ?? 'it failed';
  if (failure === null) return { text, todo: null };
  const { advice } = failures[failure];
  return { text: text.replace(advice, '').trim().replace(/\.$/u, ''), todo: advice };
}

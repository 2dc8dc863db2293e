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
  /** What to do, or that there is nothing to do, in a sentence; null: a command says it. */
  readonly todo: string | null;
  readonly command: string | null;
}

/** What is told of one reason. */
interface Said extends Advice {
  /** Whether the command is about the feed alone, where there is only one. */
  readonly isOfFeed: boolean;
  /** What is told of several feeds whose texts differ in a number; null: they are told one by one. */
  readonly together: string | null;
}

/** What to tell a person, the gravest first: feeds of which the same is to be said are named together. Pure. */
export function adviceOf(document: StatusDocument): Advice[] {
  const { reasons } = document.verdict;
  const isStopped = reasons.some(({ kind }) => kind === 'nobody-works');
  const told = reasons
    // That nobody works says that it is late; and what is going well needs nobody.
    .filter(({ kind }, at) => !(isStopped && kind === 'late') && !(at > 0 && kind === 'reading'))
    .map((reason) => say(reason, document));
  const groups = Map.groupBy(told, ({ text, together, command, todo }) =>
    JSON.stringify([together ?? text, command, todo]),
  );
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const { todo, isOfFeed, together } = first;
    const text = group.every((one) => one.text === first.text) ? first.text : (together ?? '');
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

function say<Kind extends Reason['kind']>(
  reason: Extract<Reason, { kind: Kind }>,
  document: StatusDocument,
): Said {
  const words: (
    reason: Extract<Reason, { kind: Kind }>,
    document: StatusDocument,
  ) => Partial<Said> = says[reason.kind];
  const feeds = 'feed' in reason ? [reason.feed] : [];
  return {
    feeds,
    text: '',
    todo: null,
    command: null,
    isOfFeed: false,
    together: null,
    ...words(reason, document),
  };
}

/** What is told of each reason. */
const says: {
  readonly [Kind in Reason['kind']]: (
    reason: Extract<Reason, { kind: Kind }>,
    document: StatusDocument,
  ) => Partial<Said>;
} = {
  'database-away': ({ message }) => ({ text: message }),
  unreadable: ({ message }) => ({ text: `how all is can't be read: ${message}` }),
  'key-refused': ({ failure }) => ({
    text:
      failure === 'key-missing'
        ? 'the explorer saw no API key'
        : 'the explorer does not accept the API key',
    command: 'explorer-etl check',
  }),
  rejected: ({ reason }) => ({ ...toldBy('rejected', reason), command: 'explorer-etl check' }),
  unsupported: () => ({
    text: 'the explorer does not serve this list on this chain',
    todo: 'Remove it from the configuration, or leave it: it is looked at again once a day.',
  }),
  quarantine: ({ items }) => ({
    text: `${counted(items, 'item')} in quarantine`,
    together: 'items are in quarantine',
    command: 'explorer-etl quarantine list',
  }),
  'nobody-works': ({ last_page_age_s: age }, document) => ({
    text: `nobody is working${age === null ? '' : `; last page ${duration(age)} ago`}`,
    command: goOn(document),
  }),
  paused: (_reason, document) => ({
    text: 'it was told to stop; what was read is kept',
    command: goOn(document),
  }),
  waiting: ({ failure, until }, { as_of }) => {
    const end = until === null ? '' : ` until ${clock(until, as_of)}`;
    return failure === 'out-of-credits'
      ? { text: `the key is out of credits${end}`, command: 'explorer-etl plan' }
      : { text: `the key is throttled${end}` };
  },
  stale: ({ unit, age_s, usual_s }) => ({
    text: `no new ${unit} for ${duration(age_s)}; usually one every ${duration(usual_s)}`,
    together: `no new ${unit} for far longer than usual`,
    todo: 'If its website shows newer ones, check base_url and the chain. Else wait: the explorer has stopped.',
  }),
  'standby-behind': ({ behind_s }) => ({
    text:
      behind_s === null
        ? 'nobody knows how far this standby is behind'
        : `this standby is ${duration(behind_s)} behind its primary`,
  }),
  unseen: ({ feeds }) => ({ feeds, text: 'no page for minutes; only the primary knows who works' }),
  stalled: ({ quiet_s }) => ({
    text: `no page for ${duration(quiet_s)}`,
    together: 'no page for minutes',
  }),
  unattended: () => ({ text: 'nobody works on its open run' }),
  failed: ({ failure, reason }) => toldBy(failure, reason ?? 'failed'),
  degraded: ({ failure, reason }) => toldBy(failure, reason ?? 'degraded'),
  unordered: ({ reason }) => ({
    text: reason ?? 'the service broke the order of the list',
    todo: 'Nothing to do: what was not proved is read again; report it to the service if it lasts.',
  }),
  late: ({ age_s, objective }) => ({
    text: `${age_s === null ? 'never looked at' : `last looked at ${duration(age_s)} ago`}, should be within ${duration(objective.seconds)}`,
    together: 'not looked at in time',
  }),
  gap: ({ missing, unit }) => ({
    text: `${unit === 'blocks' ? counted(missing, 'block') : counted(missing, 'batch', 'batches')} missing, and nobody reads them`,
    together: 'history is missing, and nobody reads it',
    todo: 'What it costs to read it: explorer-etl plan',
    command: 'explorer-etl backfill',
    isOfFeed: true,
  }),
  doubtful: ({ batches }) => ({
    text: `${counted(batches, 'batch', 'batches')} read and not proved`,
    together: 'batches are read and not proved',
    command: 'explorer-etl repair',
    isOfFeed: true,
  }),
  'without-blocks': ({ batches }) => ({
    text: `${counted(batches, 'batch', 'batches')} in the list of batches, but without blocks`,
    together: 'batches are in the list of batches, but without blocks',
    todo: 'Nothing to do: each poll requests them; report it to the service if it lasts.',
  }),
  unproved: () => ({ text: 'nothing proves it', command: 'explorer-etl verify' }),
  'never-read': ({ feeds }, document) => {
    const isOfAll = feeds.length === document.feeds.length;
    const isToCome = (document.workers?.start ?? 0) > 0;
    return {
      ...(isOfAll ? { text: 'nothing is stored yet' } : { feeds, text: 'never read' }),
      command: isToCome ? null : 'explorer-etl sync',
      isOfFeed: true,
    };
  },
  reading: ({ feeds, ends_at }, { as_of }) => ({
    text: `${counted(feeds.length, 'feed')}${ends_at === null ? '' : `, until about ${clock(ends_at, as_of)}`}`,
  }),
};

/** Whoever worked by schedules goes on by them. */
const goOn = ({ feeds }: StatusDocument): string =>
  feeds.some(({ freshness }) => freshness.objective?.from === 'schedule')
    ? 'explorer-etl start'
    : 'explorer-etl sync';

/** A failure's reason ends with what to do: the two are told one below the other. */
function toldBy(failure: FailureClass | null, reason: string | null): Partial<Said> {
  const text = reason ?? failure ?? 'failed';
  if (failure === null) return { text };
  const { advice } = failures[failure];
  return { text: text.replace(advice, '').trim().replace(/\.$/u, ''), todo: advice };
}

import { z } from 'zod';
import { demandPrimary } from '../db/state.ts';
import type { Database } from '../db/transaction.ts';
import { type Feed, feedName } from '../lists/feed.ts';
import { isOperation } from '../lists/registry.ts';
import { printable } from '../printable.ts';
import { readFeeds } from '../status/facts.ts';
import { isAtWork, stateName } from '../status/lanes.ts';
import { feedStates, isoTime, type StatusDocument } from '../status/schema.ts';
import { readStatus } from '../status/status.ts';
import { forgetFeed, resetFeed, storedOf, wantedBy } from '../sync/forget.ts';
import { type Handle, handleFeeds, wantLanes } from '../sync/lanes.ts';
import { presentWorkers, readDeployments } from '../sync/workers.ts';
import { tableLines } from '../terminal/layout.ts';
import { counted } from '../terminal/numbers.ts';
import { clock } from '../time.ts';
import { type Context, type Exit, type Registry, UsageError } from './context.ts';
import { openData } from './database.ts';
import { addFeedOptions, type ChosenFeeds } from './options.ts';

/** `feeds list --json`: every feed that was ever registered. */
export const feedsListDocument = z.strictObject({
  schema: z.literal('explorer-etl/feeds-list/1'),
  feeds: z.array(
    z.strictObject({
      feed: z.string(),
      state: z.enum(feedStates),
      /** Five cron fields and their time zone, as its settings say. */
      schedule: z.string(),
      timezone: z.string(),
      /** Null: no `start` polls it. */
      next_poll_at: isoTime.nullable(),
      paused_since: isoTime.nullable(),
      /** Deployments whose file names it. */
      wanted_by: z.array(z.string()),
      /** False: it is at rest. */
      is_wanted: z.boolean(),
    }),
  ),
});

/** `feeds pause --json` and its like: what was changed. */
export const feedsChangedDocument = z.strictObject({
  schema: z.literal('explorer-etl/feeds-changed/1'),
  command: z.enum(['pause', 'resume', 'run', 'reset', 'forget']),
  feeds: z.array(z.string()),
});

interface Choice extends ChosenFeeds {
  readonly all?: true;
}
interface Deletion extends Choice {
  readonly yes?: true;
  readonly rows?: true;
  readonly deployment?: string;
}

const described = {
  pause: 'stop reading them until they are resumed; requests under way are finished',
  resume: 'go on where they were paused',
  run: 'have start poll them now',
} as const satisfies Record<Handle, string>;

/** `feeds`: its commands list, pause, resume, poll, reset and forget them. */
export function register({ command, run, explain }: Registry): void {
  command
    .command('list', { isDefault: true })
    .description('their state, schedule, next poll, and who wants them; the default')
    .action(run(list));
  const choose = (name: string, what: string) =>
    addFeedOptions(command.command(name))
      .description(what)
      .option('--all', 'all of them, if no other option chooses any');
  for (const [name, what] of Object.entries(described) as [Handle, string][]) {
    choose(name, what).action(run<Choice>((context, options) => handle(context, options, name)));
  }
  choose('reset', 'read them again from nothing; their rows stay')
    .option('--yes', 'do it: without it, only what it deletes is said')
    .action(run<Deletion>((context, options) => remove(context, options, 'reset')));
  choose('forget', 'delete what is known of their reading; no deployment may want them')
    .option('--rows', 'delete their rows too')
    .option('--deployment <name>', 'only what this deployment wants, because it is gone')
    .option('--yes', 'do it: without it, only what it deletes is said')
    .action(run<Deletion>((context, options) => remove(context, options, 'forget')));
  explain([
    'explorer-etl feeds',
    'explorer-etl feeds pause --chain 10',
    'explorer-etl feeds forget --chain 999 --rows --yes',
  ]);
}

type Listed = z.infer<typeof feedsListDocument>['feeds'][number];

async function list(context: Context): Promise<Exit> {
  await using data = await openData(context, 'reads');
  // As for `status`: a standby shows no workers.
  await demandPrimary(data.pool);
  const status = await readStatus(data.db, data.settings.explorer.pageSize, 'all');
  const settingsOf = new Map(
    (await readFeeds(data.db)).map(({ shown, settings }) => [shown.feed, settings]),
  );
  const feeds = status.feeds.map(
    ({ feed, state, paused_since, wanted_by, is_wanted, poll }): Listed => {
      const { schedule = '', timezone = '' } = settingsOf.get(feed) ?? {};
      const next_poll_at = poll.next_at;
      return { feed, state, schedule, timezone, next_poll_at, paused_since, wanted_by, is_wanted };
    },
  );
  const lines = feeds.length === 0 ? ['No feed was ever read.'] : feedLines(context, status, feeds);
  return context.print(feedsListDocument, { feeds }, `${lines.join('\n')}\n`);
}

function feedLines({ out }: Context, { as_of }: StatusDocument, feeds: readonly Listed[]) {
  const at = new Date(as_of);
  const rows = feeds.map(({ schedule, timezone, ...feed }) => [
    feed.feed,
    stateText(feed, at),
    `${schedule}${timezone === 'UTC' ? '' : ` ${timezone}`}`,
    feed.next_poll_at === null ? '' : clock(feed.next_poll_at, at),
    feed.wanted_by.map((name) => printable(name)).join(', '),
  ]);
  const head = ['feed', 'state', 'schedule', 'next poll', 'wanted by'];
  return tableLines(out, { head, rows, flexible: [head.length - 1] });
}

const stateText = (feed: Pick<Listed, 'state' | 'paused_since' | 'is_wanted'>, at: Date) =>
  feed.paused_since !== null && feed.is_wanted
    ? `paused since ${clock(feed.paused_since, at)}`
    : stateName(feed);

/** The chosen feeds that are registered. @throws UsageError if none is chosen, or registered */
async function chosenFeeds(
  { db, chains, operations }: Awaited<ReturnType<typeof openData>>,
  { all }: Choice,
): Promise<(Feed & Pick<Listed, 'paused_since'>)[]> {
  if (chains.length + operations.length === 0 && all === undefined) {
    throw new UsageError('say which feeds: --chain, --operation, or --all.');
  }
  const chosen = (await readFeeds(db)).flatMap(
    ({ shown: { chain_id, operation, paused_since } }) =>
      isOperation(operation) &&
      (chains.length === 0 || chains.includes(chain_id)) &&
      (operations.length === 0 || operations.includes(operation))
        ? [{ chain_id, operation, paused_since }]
        : [],
  );
  if (chosen.length > 0) return chosen;
  throw new UsageError('no such feed was ever read: explorer-etl feeds lists them.');
}

const past = { pause: 'Paused', resume: 'Resumed', run: 'To be polled now:' } as const;

async function handle(context: Context, options: Choice, command: Handle): Promise<Exit> {
  await using data = await openData(context, 'writes', options);
  const all = await chosenFeeds(data, options);
  const chosen = command === 'run' ? all.filter((feed) => feed.paused_since === null) : all;
  if (chosen.length === 0) {
    throw new UsageError(`paused: ${all.map(feedName).join(', ')}. Use feeds resume first.`);
  }
  const feeds = await handleFeeds(data.db, chosen.map(feedName), command);
  const done = feeds.length === 0 ? 'Nothing to change.' : `${past[command]} ${feeds.join(', ')}.`;
  const isDeserted = (await presentWorkers(data.db)).start === 0;
  const due = (await readFeeds(data.db)).filter(({ next_due_at }) => next_due_at !== null);
  const scheduled = new Set(due.map(({ shown }) => shown.feed));
  const waiting =
    command === 'pause' ? [] : feeds.filter((feed) => isDeserted || !scheduled.has(feed));
  const sync = context.commandLine('explorer-etl sync');
  const next =
    waiting.length === 0
      ? []
      : [`No start polls ${waiting.join(', ')} now: one whose file names it will, or ${sync}.`];
  return context.print(feedsChangedDocument, { command, feeds }, `${[done, ...next].join('\n')}\n`);
}

async function remove(
  context: Context,
  options: Deletion,
  command: 'reset' | 'forget',
): Promise<Exit> {
  await using data = await openData(context, 'writes', options);
  const { db } = data;
  if (options.deployment !== undefined) return await retire(context, db, options);
  const chosen = await chosenFeeds(data, options);
  const lines: string[] = [];
  for (const feed of chosen) {
    refuseWanted(feed, command === 'forget' ? await wantedBy(db, feed) : null);
    const { pages, rows } = await storedOf(db, feed);
    const ofRows = `${counted(rows, 'row')}${options.rows === true ? '' : ' stay'}`;
    lines.push(`${feedName(feed)}: ${counted(pages, 'page')} of the ledger; ${ofRows}`);
  }
  if (options.yes !== true) {
    throw new UsageError(`this deletes ${lines.join('; ')}. Nothing was done: add --yes.`);
  }
  for (const feed of chosen) {
    if (command === 'reset') {
      await resetFeed(db, feed);
      continue;
    }
    refuseWanted(feed, await forgetFeed(db, feed, options.rows === true));
  }
  const feeds = chosen.map(feedName);
  return context.print(feedsChangedDocument, { command, feeds }, `Deleted ${lines.join('; ')}.\n`);
}

function refuseWanted(feed: Feed, by: string | null): void {
  if (by === null) return;
  throw new UsageError(
    `${feedName(feed)} is wanted by ${printable(by)}, which is at work: remove it from its file and start that again, or stop it first.`,
  );
}

/** Takes back what a deployment wants. @throws UsageError if it is unknown, or at work, or without `--yes` */
async function retire(
  context: Context,
  db: Database,
  { deployment = '', yes }: Deletion,
): Promise<Exit> {
  const known = (await readDeployments(db)).find(({ name }) => name === deployment);
  if (known === undefined) throw new UsageError('no such deployment: status and feeds name them.');
  if (isAtWork(await presentWorkers(db, deployment))) {
    throw new UsageError('it is at work: stop its start or command first.');
  }
  if (yes !== true) {
    throw new UsageError(
      `${printable(deployment)} would want its ${counted(known.feeds, 'feed')} no more. Nothing was done: add --yes.`,
    );
  }
  await wantLanes(db, [], { deployment, isWhole: true, takes: [] });
  const text = `${printable(deployment)} wants no feed any more.\n`;
  return context.print(feedsChangedDocument, { command: 'forget', feeds: [] }, text);
}

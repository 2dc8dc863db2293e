import { z } from 'zod';
import { openEngine, prepareDatabase, type SourceOptions } from '../app.ts';
import { requireApiKey, type Settings } from '../config/settings.ts';
import { whileCurrent } from '../db/migrate.ts';
import type { Database } from '../db/transaction.ts';
import { failures } from '../failure.ts';
import { feedName } from '../lists/feed.ts';
import { isBoundedBy } from '../lists/index.ts';
import type { ScopeBounds, Target } from '../lists/list.ts';
import type { Log } from '../log.ts';
import { sum } from '../status/estimate.ts';
import { isRunning } from '../status/lanes.ts';
import { count, failureOrNull, type StatusDocument } from '../status/schema.ts';
import { notesOf } from '../status/sentences.ts';
import { readStatus } from '../status/status.ts';
import {
  configuredFeeds,
  configuredLanes,
  reconcileTargets,
  unnamed,
  withTargets,
} from '../sync/feeds.ts';
import { syncOnce, type SyncResult } from '../sync/once.ts';
import { besideSums, sumUp, tidyUp } from '../sync/serve.ts';
import { fit, type Look, paint, prose } from '../terminal/layout.ts';
import { counted, duration, whole } from '../terminal/numbers.ts';
import { clock } from '../time.ts';
import { type CommandLine, type Context, type Exit, exits, type Registry } from './context.ts';
import { openFor, reportLocation, workSettings, type OpenDatabase } from './database.ts';
import {
  addFeedOptions,
  addFlags,
  boundsOfFlags,
  type ChosenFeeds,
  type Ends,
  endsOf,
} from './options.ts';
import { logOf, openScreen, type Screen, watchStatus } from './screen.ts';
import { detailsOf, feedTable } from './status.ts';

const sums = {
  rows_added: count,
  rows_changed: count,
  /** Pages committed. */
  pages: count,
  /** Includes retried and refused ones. */
  requests: count,
  credits: count,
  /** Items of its pages in quarantine. */
  quarantined: count,
  /** New differences from the specification. */
  drift: count,
};

/** `sync --json`, `backfill --json` and `repair --json`, without `exit`. */
export const syncDocument = z.strictObject({
  schema: z.literal('explorer-etl/sync/1'),
  command: z.enum(['sync', 'backfill', 'repair']),
  /** Each lane that had work. */
  lanes: z.array(
    z.strictObject({
      feed: z.string(),
      chain_id: z.int(),
      operation: z.string(),
      lane: z.enum(['live', 'backfill']),
      /** `paused`: a signal stopped it, or a person paused it. `superseded`: another command set other bounds. */
      state: z.enum(['finished', 'paused', 'failed', 'unsupported', 'superseded']),
      failure: failureOrNull,
      /** The failure's message and advice. */
      reason: z.string().nullable(),
      ...sums,
    }),
  ),
  totals: z.strictObject({ ...sums, seconds: z.number().min(0) }),
  /** Chosen feeds with history left, and its maximum of requests; null: unknown. */
  history: z.array(z.strictObject({ feed: z.string(), requests: count.nullable() })),
  /** Chosen feeds that a person has paused, which are not read. */
  paused: z.array(z.string()),
  /** Feeds that `repair` read, and has not completed. */
  still_open: z.array(z.string()),
});

export type SyncDocument = z.infer<typeof syncDocument>;
type Lane = SyncDocument['lanes'][number];

/** `sync`: brings feeds up to date once, with progress. */
export function register({ command, run, explain }: Registry): void {
  const bounds = ['maxPages', 'since', 'fromBatch', 'toBatch'] as const;
  addFlags(addFeedOptions(command), 'sameData', 'takeOver', ...bounds, 'for').action(run(sync));
  explain(
    [
      'explorer-etl sync',
      'explorer-etl sync --chain 10 --max-pages 20',
      'explorer-etl sync --since 7d --for 10m',
    ],
    `The same command resumes an interrupted sync.
--for is for a scheduler: the exit code is 0 if no feed failed and each was polled on schedule, also
if history is left.
--since, --from-batch and --to-batch bound this command alone: what start, status and verify want is
in the file. Without a file they stay the target of their lists until another command names another;
--since all and --from-batch 1 take all there is.`,
  );
}

async function sync(
  context: Context,
  options: ChosenFeeds & ScopeBounds & SourceOptions & { readonly for?: number },
) {
  const ends = endsOf(context.signal, options.for);
  const settings = await workSettings(context, options);
  requireApiKey(settings);
  const bounds = boundsOfFlags(settings, options);
  const isLimited = ({ lane: { operation } }: Target) =>
    bounds.maxPages === undefined || isBoundedBy(operation, 'maxPages');
  const targets = ({ chains }: Settings) => configuredLanes(chains, bounds).filter(isLimited);
  const isWhole = options.chain === undefined && options.operation === undefined;
  return syncOnDatabase(
    'sync',
    context,
    { ...options, isWhole },
    { settings, bounds, targets, ends },
  );
}

interface Work {
  readonly settings: Settings;
  readonly bounds: ScopeBounds;
  readonly targets: (aimed: Settings) => readonly Target[];
  readonly ends?: Ends;
}

/** Migrates the database, syncs the lanes, and prints the result. */
export async function syncOnDatabase(
  command: Concluded['command'],
  context: Context,
  options: SourceOptions & ChosenFeeds,
  { settings, bounds, targets, ends = endsOf(context.signal) }: Work,
): Promise<Exit> {
  using screen = await openScreen(context);
  screen.step(settings.databaseUrl === null ? 'Starting Postgres' : 'Connecting to the database');
  await using database = await openFor(settings, context, 'writes');
  const { db } = database;
  const begunAt = performance.now();
  screen.clear();
  reportLocation(context, database);
  screen.step('Preparing the database');
  const report = (line: string) => screen.write(`${line}\n`);
  await prepareDatabase(database, { signal: context.signal, report });
  const wanted = targets({ ...settings, chains: await withTargets(db, settings, bounds) });
  if (settings.configFile === null) await reconcileTargets(db, await unnamed(db, wanted));
  const work = { settings, bounds, screen, ends };
  const results = await syncTargets(context, options, work, database, wanted);
  const isNamed = options.operation !== undefined;
  const isOver = ends.reading.aborted && results.some(({ state }) => state === 'open');
  return await concludeSync(context, db, { command, settings, results, isNamed, isOver, begunAt });
}

/** Syncs a prepared database, with progress as the options say. */
export async function syncTargets(
  context: Context,
  options: SourceOptions,
  work: Pick<Work, 'settings' | 'ends'> & Partial<Pick<Work, 'bounds'>> & { screen?: Screen },
  database: OpenDatabase,
  targets: readonly Target[],
): Promise<SyncResult[]> {
  const { settings, bounds = {}, screen = await openScreen(context) } = work;
  const { reading, closing } = work.ends ?? endsOf(context.signal);
  const log = logOf(context, (line) => screen.write(line));
  await using engine = await openEngine({
    settings,
    database,
    log: context.err.isTerminal ? withoutDrift(log) : log,
    bounds,
    source: options,
  });
  await using end = new AsyncDisposableStack();
  // The result has a line for each feed.
  end.defer(() => screen.clear());
  const names = new Set(targets.map(({ lane }) => feedName(lane)));
  const read = () => readStatus(database.db, settings.explorer.pageSize, names);
  if (targets.length > 0) end.defer(watchStatus(screen, read, progressLines));
  const results = await whileCurrent(engine.pool, reading, (signal) =>
    besideSums(engine, signal, () => syncOnce(targets, engine, signal)),
  );
  await tidyUp(engine, closing);
  await sumUp(engine, closing);
  return results;
}

/** Omits schema drift, which would flood the screen; the result counts it. */
const withoutDrift = (log: Log): Log => ({
  ...log,
  write: (event, fields) => {
    if (event !== 'feed.drift') log.write(event, fields);
  },
});

/** Progress on a terminal: the table of `status`, and below it what a feed waits for, or has reached. Pure. */
export const progressLines = (document: StatusDocument, look: Look): string[] => [
  ...feedTable(document, look),
  ...document.feeds.flatMap((one) => {
    const time = isRunning(one, 'backfill') ? one.progress.reached_at : null;
    const reached = time && `complete after ${clock(time, new Date(document.as_of))}`;
    const note = ['failing', 'blocked'].includes(one.state) ? one.sentence : reached;
    return note === null ? [] : fit(`  ${one.feed}: ${note}`, look.columns);
  }),
];

/** A finished command. */
export interface Concluded {
  readonly command: SyncDocument['command'];
  readonly settings: Settings;
  readonly results: readonly SyncResult[];
  /** Whether `--operation` named the lists: a list that is not served is then a failure. */
  readonly isNamed: boolean;
  /** Feeds that it should have completed, and has not. Absent: it promises none. */
  readonly stillOpen?: readonly string[];
  /** Whether the time of `--for` ended before the work. */
  readonly isOver?: boolean;
  /** On the clock of `performance.now`. */
  readonly begunAt: number;
}

/** Prints each feed's result and the work left. @returns its exit */
export async function concludeSync(
  context: Context,
  db: Database,
  { command, settings, results, isNamed, stillOpen = [], isOver = false, begunAt }: Concluded,
): Promise<Exit> {
  const { commandLine, out, quiet, signal } = context;
  const seconds = Math.round((performance.now() - begunAt) / 100) / 10;
  const isInterrupted = signal.aborted;
  const names = new Set(configuredFeeds(settings.chains).map(feedName));
  const status = await readStatus(db, settings.explorer.pageSize, names);
  const ofResults = exitOf(results, isNamed);
  const isLate = isOver && status.feeds.some(({ poll }) => poll.is_met === false);
  const isOpen = isLate || stillOpen.length > 0;
  const ofWork = ofResults === exits.done && isOpen ? exits.open : ofResults;
  const exit = isInterrupted ? exits.interrupted : ofWork;
  const byLane = Map.groupBy(results, ({ feed, lane }) => `${feed} ${lane.lane}`);
  const lanes = status.feeds.flatMap(({ feed }) =>
    [...byLane.values()]
      .filter(([first]) => first?.feed === feed)
      .map((ofLane) => describeLane(ofLane, isInterrupted || isOver)),
  );
  const history = status.feeds
    .map(({ feed, left }) => ({ feed, requests: left.requests.most }))
    .filter(({ requests }) => requests !== 0);
  const paused = status.feeds
    .filter(({ paused_since }) => paused_since !== null)
    .map(({ feed }) => feed);
  const totals = { ...total(lanes), seconds };
  const ended = { command, lanes, totals, history, paused, still_open: [...stillOpen] };
  const document: SyncDocument = { schema: 'explorer-etl/sync/1', ...ended };
  const lines = syncText(out, document, status, exit, commandLine);
  const query = `Query it:  ${commandLine('explorer-etl query --list')}`;
  const over = isOver && !isInterrupted ? prose(out, overText(isLate)) : [];
  const next = quiet || exit !== exits.done ? [] : ['', query];
  return context.print(
    syncDocument,
    document,
    `${[...lines, ...over, ...next].join('\n')}\n`,
    exit,
  );
}

const overText = (isLate: boolean): string =>
  `The time of --for is over${isLate ? ' before every feed was polled on schedule' : ''}. Progress is saved: the same command resumes.`;

function exitOf(results: readonly SyncResult[], isNamed: boolean): Exit {
  const isFailed = results.some(
    ({ state, failure }) =>
      state !== 'finished' &&
      // A person has paused it.
      !(state === 'open' && failure === null) &&
      (isNamed || failure === null || failures[failure].exit !== 0),
  );
  return isFailed ? exits.failed : exits.done;
}

/** Describes a lane's runs once: as failed, or by the last one. */
function describeLane(results: readonly SyncResult[], isInterrupted: boolean): Lane {
  const last = results.find(({ state }) => state !== 'finished') ?? results.at(-1);
  if (last === undefined) throw new Error('no result of a lane');
  const { feed, failure, reason } = last;
  const { chain_id, operation, lane } = last.lane;
  const state = stateOf(last, isInterrupted);
  return { feed, chain_id, operation, lane, state, failure, reason, ...total(results) };
}

/** A signal leaves a run open; a run that a failure interrupted has failed here. */
function stateOf({ state, failure, reason }: SyncResult, isInterrupted: boolean): Lane['state'] {
  if (state === 'finished' || state === 'superseded') return state;
  if (failure === 'unsupported') return failure;
  const isStopped = state === 'open' || isInterrupted;
  return isStopped && failure === null && reason === null ? 'paused' : 'failed';
}

type Sums = Omit<SyncDocument['totals'], 'seconds'>;

const total = (parts: readonly Sums[]): Sums =>
  Object.fromEntries(
    Object.keys(sums).map((name) => [name, sum(parts.map((part) => part[name as keyof Sums]))]),
  ) as Sums;

/** The feeds' status, the cost, and what the status has against these feeds. Pure. @param status after the work */
export function syncText(
  look: Look,
  document: SyncDocument,
  status: StatusDocument,
  exit: Exit,
  commandLine: CommandLine,
): string[] {
  const { lanes, paused, still_open: stillOpen } = document;
  const named = (what: string, feeds: readonly string[], advice: string) =>
    feeds.length === 0 ? [] : prose(look, `${what}: ${feeds.join(', ')}. ${advice}`);
  const left = named('Still open', stillOpen, `${commandLine('explorer-etl verify')} says why.`);
  const sinceWhen = `${commandLine('explorer-etl feeds')} shows since when; feeds resume goes on.`;
  const held = named('Paused, not read', paused, sinceWhen);
  if (lanes.length === 0 && exit === exits.done) {
    if (held.length > 0) return held;
    return [`${paint(look, 'good', '✓')} Nothing to do: everything in range is downloaded.`];
  }
  const names = new Set(lanes.map(({ feed }) => feed));
  const feeds = status.feeds.filter(({ feed }) => names.has(feed));
  // The command's work has just ended, so a missing worker is expected.
  const reasons = status.reasons
    .filter(({ severity, code }) => severity !== 'info' && code !== 'no-worker')
    .filter((reason) => reason.feeds.some((feed) => names.has(feed)));
  const shown = { feeds, reasons, notes: notesOf(feeds), as_of: status.as_of };
  const isInterrupted = exit === exits.interrupted;
  const explaining = isInterrupted ? [] : reasons.flatMap((reason) => reason.feeds);
  /** Whether the status says why a lane ended as it did. */
  const isExplained = ({ feed, failure }: Lane) =>
    explaining.includes(feed) &&
    (failure === null || feeds.some((one) => one.feed === feed && one.failure === failure));
  return [
    ...(feeds.length === 0 ? [] : [...feedTable(shown, look), '']),
    ...prose(look, totalsText(document)),
    ...lanes.filter((lane) => !isExplained(lane)).flatMap((lane) => endLines(look, lane)),
    ...held,
    ...left,
    ...(isInterrupted
      ? ['Interrupted. Progress is saved: the same command resumes.']
      : detailsOf(shown, look, commandLine).flat()),
  ];
}

function totalsText({ totals }: SyncDocument): string {
  const { rows_added, rows_changed, requests, credits } = totals;
  return [
    `${counted(rows_added, 'row')} added`,
    ...(rows_changed === 0 ? [] : [`${whole(rows_changed)} changed`]),
    counted(requests, 'request'),
    counted(credits, 'credit'),
    duration(totals.seconds),
  ].join(' · ');
}

/** How a lane ended, if the status does not say why: another worker may be at work on its feed. */
function endLines(look: Look, { feed, state, failure, reason }: Lane): string[] {
  if (state === 'finished' || state === 'paused') return [];
  const why = state === 'superseded' ? 'replaced by a run with other bounds.' : reason;
  // The reason of a list that is not served begins with the same word.
  const how = state === failure ? '' : `${state}: `;
  return prose(look, `${feed}: ${how}${why ?? 'the run did not end.'}`, 2);
}

import type { Settings } from '../config/settings.ts';
import type { SyncDocument } from '../documents/sync.ts';
import { failures } from '../failure.ts';
import type { OpenDatabase } from '../open-database.ts';
import { estimateFeeds, type FeedEstimate } from '../report/estimate.ts';
import type { SyncResult } from '../sync/once.ts';
import {
  type Context,
  type ExitCode,
  exitCodes,
  type GlobalOptions,
  writeDocument,
} from './context.ts';
import { print } from './print.ts';
import { syncText } from './sync-text.ts';

/** A work that is over. */
export interface Concluded {
  readonly command: SyncDocument['command'];
  readonly settings: Settings;
  readonly results: readonly SyncResult[];
  /** Whether `--operation` named the lists. */
  readonly isNamed: boolean;
  /** When it began, on the clock of `performance.now`. */
  readonly begunAt: number;
}

/** Tells how each lane ended and what is left, and turns it into the exit code. */
export async function concludeSync(
  context: Context,
  options: GlobalOptions,
  { db }: OpenDatabase,
  { command, settings, results, isNamed, begunAt }: Concluded,
): Promise<ExitCode> {
  const seconds = (performance.now() - begunAt) / 1_000;
  const how = { pageSize: settings.explorer.pageSize, at: new Date() };
  const document = documentOfSync({
    command,
    results,
    isInterrupted: context.signal.aborted,
    isNamed,
    seconds,
    left: await estimateFeeds(db, settings.chains, how),
  });
  if (options.json) writeDocument(context, document);
  else print(context, `${syncText(context.out, document, sameCommand(context.args)).join('\n')}\n`);
  return document.exit.code as ExitCode;
}

/** Options whose value may hold a password. */
const secretOptions: ReadonlySet<string> = new Set(['--database-url']);

/** The command that was given, to be given again; passwords are left to who knows them. */
export function sameCommand(args: readonly string[]): string {
  const shown = args.map((arg, at) => {
    const [name = ''] = arg.split('=', 1);
    if (secretOptions.has(args[at - 1] ?? '')) return '…';
    if (secretOptions.has(name) && arg !== name) return `${name}=…`;
    return /^[\w./:@,=+-]+$/u.test(arg) ? arg : `'${arg.replaceAll("'", String.raw`'\''`)}'`;
  });
  return ['explorer-etl', ...shown].join(' ');
}

type LaneDocument = SyncDocument['lanes'][number];

/** What a work that is over is told from. */
interface SyncEnd {
  readonly command: SyncDocument['command'];
  readonly results: readonly SyncResult[];
  readonly isInterrupted: boolean;
  /** Whether the lists were named one by one: then one that is not served is a mistake. */
  readonly isNamed: boolean;
  readonly seconds: number;
  /** What the history of the chosen feeds still takes. */
  readonly left: readonly Pick<FeedEstimate, 'feed' | 'history'>[];
}

/** The document of `sync`, `backfill` and `repair`. Pure. */
function documentOfSync(end: SyncEnd): SyncDocument {
  const { command, results, isInterrupted, seconds, left } = end;
  const place = (feed: string) => left.findIndex((one) => one.feed === feed);
  const lanes = [...Map.groupBy(results, ({ feed, lane }) => `${feed} ${lane.lane}`).values()]
    .map((ofLane) => laneDocument(ofLane, isInterrupted))
    .toSorted((one, other) => place(one.feed) - place(other.feed));
  const code = exitCodeOf(end);
  return {
    schema: 'explorer-etl/sync/1',
    exit: { code, reason: reasons[code] },
    command,
    lanes,
    totals: { ...total(lanes), seconds: Math.round(seconds * 10) / 10 },
    history: left.flatMap(({ feed, history: { requests } }) =>
      requests === 0 ? [] : [{ feed, requests }],
    ),
  };
}

const reasons = { 0: 'done', 1: 'failed', 2: 'wrong-use', 130: 'interrupted' } as const;

function exitCodeOf({ results, isInterrupted, isNamed }: SyncEnd): ExitCode {
  if (isInterrupted) return exitCodes.interrupted;
  const failed = results.some(
    ({ state, failure }) =>
      state !== 'finished' &&
      (isNamed || failure === null || failures[failure].exit !== exitCodes.done),
  );
  return failed ? exitCodes.failed : exitCodes.done;
}

/** A lane that was worked on several times is told of once: as it ended, or as it failed. */
function laneDocument(results: readonly SyncResult[], isInterrupted: boolean): LaneDocument {
  const told = results.find(({ state }) => state !== 'finished') ?? results.at(-1);
  if (told === undefined) throw new Error('no result of a lane');
  const { feed, lane, failure, reason } = told;
  return {
    feed,
    chain_id: lane.chain_id,
    operation: lane.operation,
    lane: lane.lane,
    state: stateOf(told, isInterrupted),
    failure,
    reason,
    ...total(results),
  };
}

/** A run that is open was left by a signal. One that a failure interrupted has failed here. */
function stateOf({ state, failure, reason }: SyncResult, isInterrupted: boolean) {
  if (state === 'open') return isInterrupted ? 'paused' : 'failed';
  if (state === 'finished' || state === 'superseded') return state;
  if (failure === 'unsupported') return failure;
  return isInterrupted && failure === null && reason === null ? 'paused' : 'failed';
}

type Sums = Omit<SyncDocument['totals'], 'seconds'>;

function total(parts: readonly Sums[]): Sums {
  const sum = (of: keyof Sums) => parts.reduce((all, part) => all + part[of], 0);
  return {
    rows_added: sum('rows_added'),
    rows_added_by_others: sum('rows_added_by_others'),
    rows_changed: sum('rows_changed'),
    pages: sum('pages'),
    requests: sum('requests'),
    credits: sum('credits'),
    quarantined: sum('quarantined'),
    drift: sum('drift'),
  };
}

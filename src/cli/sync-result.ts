import { z } from 'zod';
import type { Settings } from '../config/settings.ts';
import { failures, type FailureClass } from '../failure.ts';
import type { SyncResult } from '../sync/once.ts';
import type { OpenDatabase } from '../open-database.ts';
import { printable } from '../printable.ts';
import { estimateFeeds } from '../status/estimate.ts';
import type { StatusDocument } from '../status/schema.ts';
import { readStatus } from '../status/status.ts';
import { feedNames, prose } from '../terminal/layout.ts';
import { type Look, paint } from '../terminal/look.ts';
import { counted, duration, whole } from '../terminal/numbers.ts';
import { type CommandLine, exits, withCommands, type Context, type Exit } from './context.ts';
import { printAnswer } from './print.ts';
import { detailsOf, feedTable } from './status.ts';

const count = z.int().min(0);

const sums = {
  rows_added: count,
  /** Rows that other processes added to the same feeds meanwhile. */
  rows_added_by_others: count,
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
      /** `paused`: a signal stopped it. `superseded`: another command set other bounds. */
      state: z.enum(['finished', 'paused', 'failed', 'unsupported', 'superseded']),
      failure: z.enum(Object.keys(failures) as [FailureClass, ...FailureClass[]]).nullable(),
      /** The failure's message and advice. */
      reason: z.string().nullable(),
      ...sums,
    }),
  ),
  totals: z.strictObject({ ...sums, seconds: z.number().min(0) }),
  /** Chosen feeds with history left, and its maximum of requests; null: unknown. */
  history: z.array(z.strictObject({ feed: z.string(), requests: count.nullable() })),
});

export type SyncDocument = z.infer<typeof syncDocument>;
type Lane = SyncDocument['lanes'][number];

/** A finished command. */
export interface Concluded {
  readonly command: SyncDocument['command'];
  readonly settings: Settings;
  readonly results: readonly SyncResult[];
  /** Whether `--operation` named the lists: a list that is not served is then a failure. */
  readonly isNamed: boolean;
  /** On the clock of `performance.now`. */
  readonly begunAt: number;
}

/** Prints each feed's result and the work left. @returns its exit */
export async function concludeSync(
  context: Context,
  { db }: OpenDatabase,
  { command, settings, results, isNamed, begunAt }: Concluded,
): Promise<Exit> {
  const seconds = Math.round((performance.now() - begunAt) / 100) / 10;
  const how = { pageSize: settings.explorer.pageSize, at: new Date() };
  const left = await estimateFeeds(db, settings.chains, how);
  const isInterrupted = context.signal.aborted;
  const exit = isInterrupted ? exits.interrupted : exitOf(results, isNamed);
  const place = ({ feed }: Lane) => left.findIndex((one) => one.feed === feed);
  const lanes = [...Map.groupBy(results, ({ feed, lane }) => `${feed} ${lane.lane}`).values()]
    .map((ofLane) => describeLane(ofLane, isInterrupted))
    .toSorted((one, other) => place(one) - place(other));
  const document: SyncDocument = {
    schema: 'explorer-etl/sync/1',
    command,
    lanes,
    totals: { ...total(lanes), seconds },
    history: left.flatMap(({ feed, history: { most } }) =>
      most === 0 ? [] : [{ feed, requests: most }],
    ),
  };
  const commandLine = context.commandLine;
  const status = await readStatus(db, { pageSize: how.pageSize, standby: null });
  const lines = syncText(context.out, document, status, exit, commandLine);
  const query = `Query it:  ${commandLine('explorer-etl query --list')}`;
  const next = context.quiet || exit !== exits.done ? [] : ['', query];
  const text = `${[...lines, ...next].join('\n')}\n`;
  return printAnswer(context, syncDocument, document, text, exit);
}

function exitOf(results: readonly SyncResult[], isNamed: boolean): Exit {
  const isFailed = results.some(
    ({ state, failure }) =>
      state !== 'finished' && (isNamed || failure === null || failures[failure].exit !== 0),
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
  const isPaused = state === 'open' || (failure === null && reason === null);
  return isInterrupted && isPaused ? 'paused' : 'failed';
}

type Sums = Omit<SyncDocument['totals'], 'seconds'>;

const total = (parts: readonly Sums[]): Sums =>
  Object.fromEntries(
    Object.keys(sums).map((name) => [
      name,
      parts.reduce((all, part) => all + part[name as keyof Sums], 0),
    ]),
  ) as Sums;

const isEnded = ({ state }: Lane) => state === 'finished' || state === 'paused';

/**
 * The feeds' status, cost, failures, and what the status has against the other feeds. Pure.
 * @param status of all feeds, after the work
 */
export function syncText(
  look: Look,
  document: SyncDocument,
  status: StatusDocument,
  exit: Exit,
  commandLine: CommandLine,
): string[] {
  const { lanes } = document;
  if (lanes.length === 0 && exit === exits.done) {
    return [`${paint(look, 'good', '✓')} Nothing to do: everything in range is downloaded.`];
  }
  const failed = new Set(lanes.filter((lane) => !isEnded(lane)).map(({ feed }) => feed));
  const names = new Set(lanes.map(({ feed }) => feed));
  const isOther = (feed: string) => names.has(feed) && !failed.has(feed);
  const reasons = status.reasons.filter(
    ({ severity, feeds }) => severity !== 'info' && feeds.some(isOther),
  );
  const feeds = status.feeds.filter(({ feed }) => names.has(feed));
  const shown = withCommands({ ...status, feeds, reasons }, commandLine);
  return [
    ...(feeds.length === 0 ? [] : [...feedTable(shown, look), '']),
    ...prose(look, totalsText(document)),
    ...failureLines(look, lanes),
    ...(exit === exits.interrupted
      ? ['Interrupted. Progress is saved: the same command resumes.']
      : detailsOf(shown, look, commandLine).flat()),
  ];
}

function totalsText({ totals }: SyncDocument): string {
  const { rows_added, rows_added_by_others: others, rows_changed, requests, credits } = totals;
  return [
    `${counted(rows_added, 'row')} added`,
    ...(others === 0 ? [] : [`${whole(others)} more by other processes`]),
    ...(rows_changed === 0 ? [] : [`${whole(rows_changed)} changed`]),
    counted(requests, 'request'),
    counted(credits, 'credit'),
    duration(totals.seconds),
  ].join(' · ');
}

/** Failure reasons, each once: a key's problem applies to all of its feeds. */
function failureLines(look: Look, lanes: readonly Lane[]): string[] {
  const ended = lanes.filter((lane) => !isEnded(lane));
  const all = new Set(lanes.map(({ feed }) => feed)).size;
  return [...Map.groupBy(ended, (lane) => `${lane.state} ${causeOf(lane)}`).values()].flatMap(
    (group) => {
      const [first] = group;
      if (first === undefined) return [];
      const whose = feedNames(
        look,
        group.map(({ feed }) => feed),
        all,
      );
      const sign = first.state === 'failed' ? paint(look, 'bad', '✗') : paint(look, 'quiet', '–');
      return prose(look, `${sign} ${whose}: ${reasonOf(first)}`);
    },
  );
}

/** Each feed's message of a refused key has another time. */
const causeOf = (lane: Lane): string =>
  lane.failure !== null && failures[lane.failure].stops === 'key' ? lane.failure : reasonOf(lane);

const reasonOf = ({ state, reason }: Lane): string =>
  state === 'superseded'
    ? 'superseded: replaced by a run with other bounds.'
    : printable(reason ?? 'the run did not end.');

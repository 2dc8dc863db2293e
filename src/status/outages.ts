import { databaseClassOf, describeDatabaseError, isLastingFault } from '../db/failure.ts';
import { StandbyError } from '../db/state.ts';
import { type Database, execute } from '../db/transaction.ts';
import { failures } from '../failure.ts';
import { isHeld } from './lanes.ts';
import { failureOrNull, type FeedStatus, type Reason, type StatusDocument } from './schema.ts';
import { z } from 'zod';

/** An explorer that fails, of `etl.outages`. Times are ISO 8601. */
const outageShape = () =>
  z.object({
    /** What fails, since when and why, without a full stop; `verify` has the same. */
    sentence: z.string(),
    since: z.string(),
    failure: failureOrNull,
    reason: z.string(),
    next_try_at: z.string(),
    feeds: z.array(z.string()).readonly(),
  });
export type Outage = Readonly<z.infer<ReturnType<typeof outageShape>>>;

/** The explorers that fail, with their feeds. */
export const readOutages = (db: Database): Promise<Outage[]> =>
  execute(db).values(outageShape)`select to_jsonb(outages) from etl.outages`;

export const outageOf = (feed: FeedStatus, outages: readonly Outage[]): Outage | null =>
  outages.find(({ feeds }) => feeds.includes(feed.feed)) ?? null;

/** Whether a person stopped its work. A poll that an outage kept open was to end by itself. */
export const isStopped = (feed: FeedStatus, outages: readonly Outage[]): boolean =>
  feed.lanes.some(({ state }) => state === 'paused') && outageOf(feed, outages) === null;

/** Whether its failure can be one of its explorer as a whole. */
export const isOfHost = ({ failure }: FeedStatus): boolean =>
  failure !== null && failures[failure].isOfHost === true;

/** Whether the database, not the explorer, fails its feed. */
export const isFailedByDatabase = ({ failure }: FeedStatus): boolean =>
  failure === 'not-stored' || failure?.startsWith('database-') === true;

export const isRefused = ({ state, failure }: FeedStatus): boolean =>
  state === 'blocked' && (failure === 'unauthorized' || failure === 'key-missing');

export const isRejected = ({ state, failure }: FeedStatus): boolean =>
  state === 'blocked' && failure === 'rejected';

export const isOutOfCredits = ({ failure }: FeedStatus): boolean =>
  failure === 'out-of-credits' || failure === 'daily-limit';

export const isWaiting = (feed: FeedStatus): boolean =>
  feed.state === 'blocked' && !isRefused(feed) && !isRejected(feed);

/** A feed that waits for its explorer fails with it, unless it has a failure of its own. */
export function duringOutage(feed: FeedStatus, outages: readonly Outage[]): FeedStatus {
  const outage = outageOf(feed, outages);
  const isLeft = feed.state === 'paused' && !isHeld(feed);
  const waitsForIt = isLeft || ['running', 'behind', 'failing'].includes(feed.state);
  if (outage === null || !waitsForIt) return feed;
  if (feed.failure !== null && !isOfHost(feed)) return feed;
  return { ...feed, state: 'failing', failure: outage.failure, sentence: outage.reason };
}

/** The status, without its database, or with a fault that this process met in its work. */
export function withFault(
  status: StatusDocument,
  error: unknown,
  how: 'is unreachable' | 'did not report the status' | 'cannot be used',
): StatusDocument {
  const failure = databaseClassOf(error);
  const isKnown = failure !== null && failure !== 'not-stored';
  const isLasting = isLastingFault(error) || error instanceof StandbyError;
  const code = isLasting ? 'database-failing' : 'database-unreachable';
  // Our own errors are sentences.
  const why = describeDatabaseError(error).replace(/\.$/u, '');
  const sentence = `The database ${how}: ${why}.`;
  const command = isKnown ? 'explorer-etl check --no-requests' : null;
  const reason: Reason = {
    code,
    severity: isLasting ? 'action' : 'warning',
    blocks_readiness: true,
    feeds: [],
    sentence,
    advice: isKnown ? failures[failure].advice : null,
    command,
  };
  const others = status.reasons.filter((other) => ![code, 'no-worker'].includes(other.code));
  const waits = how === 'did not report the status' ? 'degraded' : 'stopped';
  const state = isLasting ? 'action-required' : waits;
  const overall = { state, sentence, since: null, command } as const;
  return { ...status, reasons: [reason, ...others], overall };
}

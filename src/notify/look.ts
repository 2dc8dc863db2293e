import { drizzle } from 'drizzle-orm/node-postgres';
import type { Pool } from 'pg';
import { describeDatabaseError, isConnectionLost } from '../db/failure.ts';
import type { Database } from '../db/transaction.ts';
import type { NotificationDocument } from '../documents/notification.ts';
import type { StatusDocument } from '../documents/status.ts';
import type { Log } from '../log.ts';
import { notificationOf } from './notification.ts';
import { noteSeen, noteToldAway, settle, takeDue, takeTurn, takeUpAgain } from './notices.ts';
import { beginOutage, isOutageDue, retryOutage, type Outage } from './outage.ts';
import type { Pace } from './pace.ts';
import type { Webhook } from './post.ts';

export interface LookOptions {
  /** Connections of its own: the work waits for none of them. */
  readonly pool: Pool;
  /** How all is now; a database that is away is a verdict, or rejects. */
  readonly status: () => Promise<StatusDocument>;
  /** How all is while the database is away, which said this. */
  readonly away: (message: string) => StatusDocument;
  readonly from: NotificationDocument['from'];
  readonly log: Log;
  /** Monotonic, in ms. */
  readonly now: () => number;
  readonly pace: Pace;
}

/** Looks once, tells what is to be told, and says how long it took to know how all is, in ms. */
export type Look = (webhook: Webhook) => Promise<number>;

/** A look that remembers what only this process can: an outage of the database, and the verdict before it. */
export function createLook(options: LookOptions, signal: AbortSignal): Look {
  const { now } = options;
  const db = drizzle(options.pool);
  let outage: Outage | null = null;
  let last: StatusDocument['verdict'] | null = null;
  let asked: Webhook | null = null;
  return async (webhook) => {
    // Also where it is another's turn: that the outage is over, this process has to see itself.
    const found = await findStatus(db, options, outage !== null);
    if (found === null) return 0;
    const { status, tookMs } = found;
    const tell = { webhook, status, options, signal };
    if (status.verdict.kind === 'database-away') {
      outage = await tellOutage(tell, outage ?? beginOutage(now(), status.as_of), last);
      return tookMs;
    }
    if (outage?.told) await noteToldAway(db, outage.told.verdict, now() - outage.told.atMs);
    outage = null;
    last = status.verdict;
    if (asked !== webhook) await takeUpAgain(db, options.pace);
    asked = webhook;
    await tellChange(db, tell);
    return tookMs;
  };
}

/** How all is, where it is this process's turn to look or it must; also that the database is away. */
async function findStatus(
  db: Database,
  { status, away, now, pace }: LookOptions,
  must: boolean,
): Promise<{ readonly status: StatusDocument; readonly tookMs: number } | null> {
  try {
    const isMyTurn = await takeTurn(db, pace);
    if (!isMyTurn && !must) return null;
    const begun = now();
    const found = await status();
    return { status: found, tookMs: now() - begun };
  } catch (error) {
    if (!isConnectionLost(error)) throw error;
    // What a lost connection took says nothing of what a look costs.
    return { status: away(describeDatabaseError(error)), tookMs: 0 };
  }
}

/** What is told to whom. */
interface Telling {
  readonly webhook: Webhook;
  readonly status: StatusDocument;
  readonly options: LookOptions;
  readonly signal: AbortSignal;
}

/** Tells the database's change, where it is given to this process. */
async function tellChange(db: Database, tell: Telling): Promise<void> {
  const { status, options } = tell;
  await noteSeen(db, status.verdict.kind, status.as_of);
  const due = await takeDue(db, status.verdict.kind, options.pace);
  if (due !== null && (await post(tell, due))) await settle(db, due.number, status.verdict);
}

/** Tells that the database is away, where it has been for long enough. */
async function tellOutage(
  tell: Telling,
  outage: Outage,
  before: StatusDocument['verdict'] | null,
): Promise<Outage> {
  const { now, pace } = tell.options;
  if (!isOutageDue(outage, tell.status.as_of, now(), pace)) return outage;
  const isDelivered = await post(tell, { number: 0, attempt: outage.attempts + 1, before });
  if (!isDelivered) return retryOutage(outage, now(), pace);
  return { ...outage, told: { verdict: tell.status.verdict, atMs: now() } };
}

/** @returns whether it was delivered; the log knows why not */
async function post(
  { webhook, status, options, signal }: Telling,
  {
    number,
    attempt,
    before,
  }: Pick<NotificationDocument, 'number' | 'before'> & { attempt: number },
): Promise<boolean> {
  const { log, from } = options;
  const body = notificationOf(status, { number, before }, from);
  const posted = await webhook.post(body, signal);
  const said = { webhook: webhook.name, verdict: status.verdict.kind, attempt };
  if (posted.is === 'delivered') log.tell('notify.delivered', said);
  else log.tell('notify.undelivered', { ...said, problem: posted.problem });
  return posted.is === 'delivered';
}

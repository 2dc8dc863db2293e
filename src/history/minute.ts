import type { Database } from '../db/transaction.ts';
import { countLanes } from './counts.ts';
import { addLaneMinutes, noteFeedMinutes, untilNextMinute, type FeedMinute } from './write.ts';

export interface MinuteOptions {
  /** The engine's: what is told under its pool is the engine's work. */
  readonly db: Database;
  /** How current every feed is now; it reads as much after a year as after a day. */
  readonly freshness: () => Promise<readonly FeedMinute[]>;
  /** Monotonic, in ms. */
  readonly now: () => number;
}

/** What an engine does, from now on. */
export interface Minutes {
  /**
   * Writes what came since it was last written, and how current feeds are now. What could not be written
   * is counted to the next time.
   *
   * @returns how long until the next minute begins, in ms
   * @throws what Postgres throws
   */
  write(): Promise<number>;
  /** Counts no more. */
  stop(): void;
}

/** Counts what an engine does, and writes it down when it is told to. */
export function countMinutes({ db, freshness, now }: MinuteOptions): Minutes {
  const counter = countLanes(db.$client);
  let sinceMs = now();
  return {
    async write() {
      const counts = counter.take();
      const [beganMs, endedMs] = [sinceMs, now()];
      sinceMs = endedMs;
      try {
        // A time that touches two minutes is counted to the one that its middle is in.
        await addLaneMinutes(db, counts, (endedMs - beganMs) / 2);
      } catch (error) {
        counter.giveBack(counts);
        sinceMs = beganMs;
        throw error;
      }
      await noteFeedMinutes(db, await freshness());
      return untilNextMinute(db);
    },
    stop: () => counter.stop(),
  };
}

import { type Database, transact } from '../../src/db/transaction.ts';
import { openRun as openRunIn } from '../../src/sync/runs.ts';

type Opening = Parameters<typeof openRunIn> extends [unknown, ...infer Rest] ? Rest : never;

/** Opens a run of a lane in a transaction of its own, without a job. */
export const openRun = (db: Database, ...run: Opening): ReturnType<typeof openRunIn> =>
  transact(db, (tx) => openRunIn(tx, ...run));

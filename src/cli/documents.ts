import { z } from 'zod';
import { planDocument } from '../status/plan.ts';
import { statusDocument } from '../status/schema.ts';
import { verifyDocument } from '../status/verify.ts';
import { checkDocument } from './check.ts';
import { exits } from './context.ts';
import { dbStartDocument, dbStatusDocument, dbStopDocument, dbUrlDocument } from './db.ts';
import { demoDocument } from './demo.ts';
import { exportDocument } from './export.ts';
import { errorDocument } from './failure.ts';
import { feedsChangedDocument, feedsListDocument } from './feeds.ts';
import { initDocument } from './init.ts';
import { migrateDocument } from './migrate.ts';
import { openDocument } from './open.ts';
import * as quarantine from './quarantine.ts';
import { queryOutput, queryListDocument, querySqlDocument } from './query.ts';
import { replayDocument } from './replay.ts';
import { simulateDocument } from './simulate.ts';
import { startDocument } from './start.ts';
import { runsOutput } from './status.ts';
import { syncDocument } from './sync.ts';

/** A document as it is printed: with how the command ended. */
const printed = <Shape extends z.core.$ZodShape>(document: z.ZodObject<Shape, z.core.$strict>) =>
  z.strictObject({
    ...document.shape,
    exit: z.strictObject({
      code: z.int().min(0).max(255),
      reason: z.enum(Object.values(exits).map(({ reason }) => reason)),
    }),
  });

/** All documents of `--json`, by their names, for programs: `explorer-etl/documents`. */
export const documents = {
  check: printed(checkDocument),
  'db-start': printed(dbStartDocument),
  'db-status': printed(dbStatusDocument),
  'db-stop': printed(dbStopDocument),
  'db-url': printed(dbUrlDocument),
  demo: printed(demoDocument),
  error: printed(errorDocument),
  export: printed(exportDocument),
  'feeds-changed': printed(feedsChangedDocument),
  'feeds-list': printed(feedsListDocument),
  init: printed(initDocument),
  migrate: printed(migrateDocument),
  open: printed(openDocument),
  plan: printed(planDocument),
  'quarantine-drop': printed(quarantine.quarantineDropDocument),
  'quarantine-list': printed(quarantine.quarantineListDocument),
  'quarantine-retry': printed(quarantine.quarantineRetryDocument),
  query: printed(queryOutput),
  'query-list': printed(queryListDocument),
  'query-sql': printed(querySqlDocument),
  replay: printed(replayDocument),
  runs: printed(runsOutput),
  simulate: printed(simulateDocument),
  start: printed(startDocument),
  status: printed(statusDocument),
  sync: printed(syncDocument),
  verify: printed(verifyDocument),
};

/** Their types: `Documents['status']`. */
export type Documents = {
  readonly [Name in keyof typeof documents]: z.infer<(typeof documents)[Name]>;
};

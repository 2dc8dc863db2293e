import type { z } from 'zod';
import { checkDocument } from './check.ts';
import { dbStartDocument, dbStatusDocument, dbStopDocument, dbUrlDocument } from './db.ts';
import { demoDocument, demoStopDocument } from './demo.ts';
import { errorDocument } from './error.ts';
import { exportDocument } from './export.ts';
import { initDocument } from './init.ts';
import { openDocument } from './open.ts';
import { migrateDocument } from './migrate.ts';
import {
  quarantineDropDocument,
  quarantineListDocument,
  quarantineRetryDocument,
} from './quarantine.ts';
import { queryDocument, queryListDocument, querySqlDocument } from './query.ts';
import { replayDocument } from './replay.ts';
import { simulateDocument, simulateFaultsDocument } from './simulate.ts';

/** Every document of `--json`, by its name. */
export const documents = {
  demo: demoDocument,
  'demo-stop': demoStopDocument,
  check: checkDocument,
  init: initDocument,
  open: openDocument,
  'quarantine-list': quarantineListDocument,
  'quarantine-retry': quarantineRetryDocument,
  'quarantine-drop': quarantineDropDocument,
  query: queryDocument,
  'query-list': queryListDocument,
  'query-sql': querySqlDocument,
  export: exportDocument,
  'db-start': dbStartDocument,
  'db-stop': dbStopDocument,
  'db-status': dbStatusDocument,
  'db-url': dbUrlDocument,
  migrate: migrateDocument,
  replay: replayDocument,
  simulate: simulateDocument,
  'simulate-faults': simulateFaultsDocument,
  error: errorDocument,
} as const satisfies Readonly<Record<string, z.ZodType>>;

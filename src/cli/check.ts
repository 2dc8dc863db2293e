import { setTimeout as delay } from 'node:timers/promises';
import { directUrlOf, openClient } from '../app.ts';
import { openDatabase, type OpenDatabase } from '../open-database.ts';
import { describeDatabaseError, isConnectionLost } from '../db/failure.ts';
import { findWays, PoolerError } from '../db/route.ts';
import { readStandby, StandbyError } from '../db/standby.ts';
import { configuredLanes, type ConfiguredLane } from '../feeds/lanes.ts';
import { feedName } from '../lists/feed.ts';
import { kindOf } from '../lists/index.ts';
import { requireApiKey, type Settings } from '../config/settings.ts';
import { parseBody } from '../explorer/body.ts';
import type { ExplorerClient } from '../explorer/client.ts';
import { ExplorerError } from '../explorer/error.ts';
import { failures } from '../failure.ts';
import { operations } from '../operations/index.ts';
import { creditsPerPage } from '../walk/ledger.ts';
import { addFeedOptions, type ChosenFeeds } from './chosen-feeds.ts';
import { exitCodes, writeJson, type Registry } from './context.ts';
import { settingsOf } from './setup.ts';

interface Finding {
  readonly what: string;
  readonly ok: boolean;
  readonly detail: string;
}

/** `check`: whether configuration, database and API would do. */
export function registerCheck({ command, run }: Registry): void {
  addFeedOptions(command)
    .option('--no-requests', `make no request (each feed's costs ${creditsPerPage} credits)`)
    .addHelpText(
      'after',
      '\nExamples:\n  explorer-etl check\n  explorer-etl check --chain 10 --no-requests\n',
    )
    .action(
      run<ChosenFeeds & { requests: boolean }>(async (context, options) => {
        const settings = settingsOf(context, options);
        const findings: Finding[] = [
          { what: 'configuration', ok: true, detail: settings.configFile ?? 'no file, flags only' },
        ];
        const database = await openDatabase(settings, context);
        try {
          findings.push(await askServer(database), ...(await askRoute(settings, database)));
        } finally {
          await database.close();
        }
        if (options.requests) findings.push(...(await askEachFeed(settings, context.signal)));
        if (options.json) writeJson(context, findings);
        else {
          for (const { what, ok, detail } of findings) {
            context.stdout(`${ok ? 'ok  ' : 'FAIL'}  ${what}: ${detail}\n`);
          }
        }
        return findings.every(({ ok }) => ok) ? exitCodes.done : exitCodes.failed;
      }),
    );
}

async function askServer({ pool }: OpenDatabase): Promise<Finding> {
  const { rows } = await pool.query<{ server_version: string }>('show server_version');
  const version = `Postgres ${rows[0]?.server_version}`;
  const standby = await readStandby(pool);
  return standby === null
    ? { what: 'database', ok: true, detail: version }
    : { what: 'database', ok: false, detail: `${version}: ${new StandbyError().message}` };
}

/** What is between here and the server, where something is. */
async function askRoute(settings: Settings, database: OpenDatabase): Promise<Finding[]> {
  const { url, pool } = database;
  const directUrl = directUrlOf(settings, database);
  // Nothing is written there, and it cannot be asked by writing.
  if ((await readStandby(pool)) !== null) return [];
  try {
    const { route } = await findWays(url, directUrl);
    if (route.is === 'direct') return [];
    const sessions = directUrl === null ? '' : '; sessions go the way of DATABASE_URL_DIRECT';
    const detail = `through ${route.pooler} in ${route.is} mode${sessions}`;
    return [{ what: 'connection', ok: true, detail }];
  } catch (error) {
    const isFound = error instanceof PoolerError || isConnectionLost(error);
    if (!isFound) throw error;
    const detail = error instanceof PoolerError ? error.message : describeDatabaseError(error);
    return [{ what: 'connection', ok: false, detail }];
  }
}

/** Asks for the smallest page of every feed. */
async function askEachFeed(settings: Settings, signal: AbortSignal): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const [id, key] of requireApiKey(settings)) {
    const client = openClient(settings, key);
    const gapMs = 1000 / key.requestsPerSecond;
    try {
      // Every feed has this lane, some have a second one: one question tells of both.
      const lanes = configuredLanes(settings.chains).filter(
        ({ lane }) => lane.lane === 'backfill' && lane.chain_id === id,
      );
      for (const lane of lanes) findings.push(await askFeed(client, lane, gapMs, signal));
    } finally {
      await client.close();
    }
  }
  return findings;
}

async function askFeed(
  client: ExplorerClient,
  { lane, scope }: ConfiguredLane,
  gapMs: number,
  signal: AbortSignal,
): Promise<Finding> {
  const example = kindOf(lane.operation).walkScope(scope);
  const request = operations[lane.operation].request(example, null, 1);
  const what = feedName(lane);
  const admit = () => delay(gapMs, undefined, { signal });
  try {
    const answer = await client.get(
      { chainId: lane.chain_id, ...request },
      { admit, read: parseBody, signal },
    );
    return { what, ok: true, detail: `answered in ${Math.round(answer.latencyMs)} ms` };
  } catch (error) {
    if (!(error instanceof ExplorerError)) throw error;
    const advice =
      error.failure === 'unreachable'
        ? 'Check the network and EXPLORER_BASE_URL.'
        : failures[error.failure].advice;
    return { what, ok: false, detail: `${error.message}. ${advice}` };
  }
}

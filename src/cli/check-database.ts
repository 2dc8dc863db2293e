import { directUrlOf } from '../app.ts';
import type { Settings } from '../config/settings.ts';
import { describeDatabaseError, isConnectionLost, isPermissionDenied } from '../db/failure.ts';
import { readSchemaState, serverProblem, type SchemaState } from '../db/migrate.ts';
import { newerDatabase } from '../db/migration-error.ts';
import { findWays, PoolerError } from '../db/route.ts';
import { readStandby, StandbyError } from '../db/standby.ts';
import { parseUrl } from '../db/timeouts.ts';
import type { CheckDocument } from '../documents/check.ts';
import type { OpenDatabase } from '../open-database.ts';
import { clockAhead, clockFinding } from './check-clock.ts';

export type Finding = CheckDocument['findings'][number];

/** What was found of the database, and what is wrong with it. */
export interface DatabaseAnswer {
  readonly database: CheckDocument['database'];
  readonly findings: readonly Finding[];
}

/** Something that would not do, beside feeds. */
const failed = (kind: Finding['kind'], message: string): Finding => ({
  state: 'failed',
  kind,
  feeds: [],
  failure: null,
  message,
});

/** Looks at the server, its schema, its clock, and the way to it. Changes nothing. */
export async function askDatabase(
  settings: Pick<Settings, 'directUrl'>,
  database: OpenDatabase,
): Promise<DatabaseAnswer> {
  const { pool, url, embedded } = database;
  const server = await askServer(database);
  const isStandby = (await readStandby(pool)) !== null;
  const schema = await askSchema(database);
  // Nothing is written to a standby, and the way to one cannot be asked by writing.
  const route = isStandby ? { pooler: null, findings: [] } : await askRoute(settings, database);
  const old = serverProblem(server.versionNumber, server.version);
  const clock = clockFinding("the database's", server.clockAheadMs);
  const { schema_version = null, ...migrations } = schema ?? {};
  return {
    database: {
      ...placeOf(url),
      name: server.name,
      server_version: server.version,
      is_embedded: embedded !== null,
      is_standby: isStandby,
      schema_version,
      migrations: schema === null ? null : (migrations as Omit<SchemaState, 'schema_version'>),
      pooler: route.pooler,
      clock_ahead_ms: server.clockAheadMs,
    },
    findings: [
      ...(old === null ? [] : [failed('server-too-old', old)]),
      ...(isStandby ? [failed('standby', new StandbyError().message)] : []),
      ...(schema !== null && schema.ahead > 0 ? [failed('newer-migrations', newerDatabase)] : []),
      ...route.findings,
      ...(clock === null ? [] : [clock]),
    ],
  };
}

/** Where a URL leads, and nothing of who goes there. */
function placeOf(url: string): { readonly host: string; readonly port: number | null } {
  const { hostname, port, searchParams } = parseUrl(url);
  const socket = searchParams.get('host') ?? decodeURIComponent(hostname);
  return { host: socket, port: port === '' ? null : Number(port) };
}

interface Server {
  readonly version: string;
  readonly versionNumber: number;
  readonly name: string;
  readonly clockAheadMs: number;
}

async function askServer({ pool }: OpenDatabase): Promise<Server> {
  const askedMs = Date.now();
  const { rows } = await pool.query<Record<'version' | 'number' | 'name' | 'now_ms', string>>(`
    select current_setting('server_version') as version,
           current_setting('server_version_num') as number,
           current_database() as name,
           (1000 * extract(epoch from clock_timestamp()))::text as now_ms
  `);
  const answeredMs = Date.now();
  const [row] = rows;
  return {
    version: row?.version ?? 'unknown',
    versionNumber: Number(row?.number ?? 0),
    name: row?.name ?? 'unknown',
    clockAheadMs: clockAhead(Number(row?.now_ms), { askedMs, answeredMs }),
  };
}

/** @returns null where this role may not look */
async function askSchema({ pool }: OpenDatabase): Promise<SchemaState | null> {
  try {
    return await readSchemaState(pool);
  } catch (error) {
    if (isPermissionDenied(error)) return null;
    throw error;
  }
}

/** What is between here and the server, where something is. */
async function askRoute(settings: Pick<Settings, 'directUrl'>, database: OpenDatabase) {
  try {
    const directUrl = directUrlOf(settings, database);
    const { route } = await findWays(database.url, directUrl);
    const pooler =
      route.is === 'direct'
        ? null
        : { name: route.pooler, mode: route.is, is_passed: directUrl !== null };
    return { pooler, findings: [] };
  } catch (error) {
    const isFound = error instanceof PoolerError || isConnectionLost(error);
    if (!isFound) throw error;
    const message = error instanceof PoolerError ? error.message : describeDatabaseError(error);
    return { pooler: null, findings: [failed('connection', message)] };
  }
}

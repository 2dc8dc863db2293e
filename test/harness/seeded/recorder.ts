import { sql, type SQLWrapper } from 'drizzle-orm';
import { PgDatabase, type PgDialect } from 'drizzle-orm/pg-core';
import { Client } from 'pg';
import { z } from 'zod';
import { withSettings } from '../../../src/db/timeouts.ts';

/** A statement as Postgres ran it. */
export interface RunStatement {
  /** The file and function that it stands in. */
  readonly from: string;
  readonly text: string;
  readonly ms: number;
  readonly plan: PlanNode;
}

/** A node of a plan: what `explain (analyze, format json)` says of it. */
const node = z.looseObject({
  'Node Type': z.string(),
  'Relation Name': z.string().optional(),
  Schema: z.string().optional(),
  'Actual Rows': z.number(),
  'Actual Loops': z.number(),
  'Rows Removed by Filter': z.number().optional(),
  'Rows Removed by Index Recheck': z.number().optional(),
  get Plans() {
    return z.array(node).optional();
  },
});
type PlanNode = z.infer<typeof node>;
const explained = z.object({ 'Query Text': z.string(), Plan: node });

/**
 * The URL of sessions that tell the plan of each statement, those within functions and triggers too.
 * Not timed by node, which would slow a scan of millions down. Needs a superuser.
 */
export const explaining = (url: string) =>
  withSettings(url, {
    session_preload_libraries: 'auto_explain',
    'auto_explain.log_min_duration': 0,
    'auto_explain.log_analyze': 'on',
    'auto_explain.log_timing': 'off',
    'auto_explain.log_verbose': 'on',
    'auto_explain.log_nested_statements': 'on',
    'auto_explain.log_format': 'json',
    'auto_explain.log_level': 'notice',
    client_min_messages: 'notice',
  });

/** Records each statement of this process that is run on a URL of `explaining`, until `stop`. */
export interface Recorder {
  /** What was run since it was last taken. */
  take(): RunStatement[];
  stop(): void;
}

/** drizzle's database, which has it but not in its types. */
interface Executing extends PgDatabase<never> {
  readonly dialect: PgDialect;
}

/** Where in src/ a statement was run; what all statements pass through is left out. */
const frame = /at (?:async )?(?:(?<name>[\w.]+) \()?.*\/src\/(?<file>(?!db\/)[\w/-]+\.ts)/u;

function callerOf(stack: string | undefined): string {
  for (const line of stack?.split('\n') ?? []) {
    const { name, file } = frame.exec(line)?.groups ?? {};
    if (file !== undefined) return name === undefined ? file : `${file} ${name}`;
  }
  return 'elsewhere';
}

export function recordStatements(): Recorder {
  const run: RunStatement[] = [];
  const callers = new Map<string, string>();
  const connect: unknown = Reflect.get(Client.prototype, 'connect');
  const execute: unknown = Reflect.get(PgDatabase.prototype, 'execute');
  const whole = { connect, execute } as Record<
    'connect' | 'execute',
    (...told: never[]) => unknown
  >;
  // The stack of the query itself ends at the socket.
  Object.assign(PgDatabase.prototype, {
    execute(this: Executing, query: SQLWrapper | string): unknown {
      const told = typeof query === 'string' ? sql.raw(query) : query.getSQL();
      const { sql: text } = this.dialect.sqlToQuery(told);
      if (!callers.has(text)) callers.set(text, callerOf(new Error('here').stack));
      return Reflect.apply(whole.execute, this, [query]);
    },
  });
  Object.assign(Client.prototype, {
    connect(this: Client, ...told: unknown[]): unknown {
      this.on('notice', ({ message = '' }) => {
        const [, ms, json] = /^duration: ([\d.]+) ms\s+plan:\n(.*)$/su.exec(message) ?? [];
        if (json === undefined) return;
        const { 'Query Text': text, Plan: plan } = explained.parse(JSON.parse(json));
        run.push({ text, ms: Number(ms), plan, from: callers.get(text) ?? 'within a function' });
      });
      return Reflect.apply(whole.connect, this, told);
    },
  });
  return {
    take: () => run.splice(0),
    stop() {
      Object.assign(Client.prototype, { connect });
      Object.assign(PgDatabase.prototype, { execute });
    },
  };
}

/** How many rows of each table a plan took from it, those that a filter threw away too. */
export function rowsRead(plan: PlanNode): Map<string, number> {
  const read = new Map<string, number>();
  const visit = (at: PlanNode) => {
    const { 'Relation Name': name, Schema: schema, 'Actual Loops': loops } = at;
    if (name !== undefined && at['Node Type'].endsWith('Scan')) {
      const each =
        at['Actual Rows'] +
        (at['Rows Removed by Filter'] ?? 0) +
        (at['Rows Removed by Index Recheck'] ?? 0);
      const table = `${schema}.${name}`;
      read.set(table, (read.get(table) ?? 0) + each * loops);
    }
    at.Plans?.forEach(visit);
  };
  visit(plan);
  return read;
}

/** Tables that a plan scanned from end to end. */
export function scanned(plan: PlanNode): string[] {
  if (plan['Actual Loops'] === 0) return [];
  const own = plan['Node Type'] === 'Seq Scan' ? [`${plan.Schema}.${plan['Relation Name']}`] : [];
  return [...own, ...(plan.Plans ?? []).flatMap(scanned)];
}

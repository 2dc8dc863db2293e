import { z } from 'zod';
import { prepareDatabase } from '../app.ts';
import { distribute, distributed, type Distributed } from '../db/layout.ts';
import { grantRoles, roles } from '../db/roles.ts';
import { largeTable } from '../lists/registry.ts';
import { count } from '../status/schema.ts';
import type { Context, Registry } from './context.ts';
import { openFor, reportLocation, readSettings } from './database.ts';

interface MigrateOptions {
  readonly roles?: boolean;
  readonly distribute?: boolean;
}

export const migrateDocument = z.strictObject({
  schema: z.literal('explorer-etl/migrate/1'),
  applied: count,
  /** Files of views and functions that ran now; 0: none has changed. */
  views: count,
  roles: z.array(z.string()),
  /** The table of --distribute; null without that flag. */
  layout: distributed.nullable(),
});

export function register({ command, run, explain }: Registry): void {
  command
    .option('--roles', `also create the roles ${Object.values(roles).join(', ')}, and grant them`)
    .option('--distribute', 'also distribute explorer.user_operations over a Citus cluster');
  const examples = [
    'explorer-etl migrate',
    'explorer-etl migrate --roles',
    'explorer-etl migrate --distribute --database-url postgres://user@coordinator/chains',
  ];
  const grants = `grant ${roles.analyst} to alice;`;
  command.action(run(migrate));
  explain(examples, `Roles have no login: grant them to users who have one, such as\n  ${grants}`);
}

async function migrate(context: Context, options: MigrateOptions) {
  const settings = readSettings(context, {}, 'database');
  await using database = await openFor(settings, context, 'writes');
  const { pool } = database;
  reportLocation(context, database);
  const { applied, views } = await prepareDatabase(database, context.waiting);
  const layout = options.distribute ? await distribute(pool, largeTable, context.waiting) : null;
  const granted = options.roles ? Object.values(roles) : [];
  if (options.roles) await grantRoles(pool);
  const text = [
    ...(applied > 0 ? [`Applied migrations of tables: ${applied}.\n`] : []),
    views === 0 ? 'The schema is up to date.\n' : `Created views: ${views} files.\n`,
    ...(layout === null ? [] : [layoutText(layout)]),
    ...(options.roles ? [`Granted: ${granted.join(', ')}.\n`] : []),
  ].join('');
  return context.print(migrateDocument, { applied, views, roles: granted, layout }, text);
}

function layoutText({ table, outcome, rows }: Distributed): string {
  const is = `${table} is ${outcome === 'already' ? 'already ' : ''}`;
  const moved = rows === null ? '' : `, with its ${rows} rows`;
  return `${is}distributed over the servers of the cluster by ${largeTable.spreadBy}${moved}.\n`;
}
